// Package activities holds recap's side effects, one concern a file: planning on a session store,
// asking a model, reviewing an answer, committing the entry, publishing events (DESIGN §5).
//
// Every activity is safe to run twice. A failure that the workflow must decide about is a typed
// result; an error means that the worker or something under it is broken, and Temporal repeats it.
//
// The package may import contract, pure packages, ports and prompts; never an adapter or a vendor
// SDK (checked by internal/testkit/deptest).
package activities

import (
	"errors"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"

	"recap/internal/blob"
	"recap/internal/contract"
	"recap/internal/event"
	"recap/internal/model"
	"recap/internal/store"
)

// Stores finds the driver of a configured store.
type Stores interface {
	Driver(name string) (store.Driver, error)
}

// Clients finds the client of a configured candidate, and its price.
type Clients interface {
	Client(candidate string) (model.Client, model.Price, error)
}

// Recorder counts what happened, for metrics. Values are tokens, seconds and closed sets of names.
type Recorder interface {
	Compaction(o contract.Outcome, reason contract.Reason, strategy string, took time.Duration)
	Stage(part contract.Part, took time.Duration)
	ModelAttempt(candidate, result string, took time.Duration, usage contract.Usage)
	Verdict(v contract.Verdict, reasons []contract.Code)
	Published(event string, ok bool)
}

// Deps are the collaborators of the activities. All are required.
type Deps struct {
	Stores  Stores
	Blobs   blob.Driver
	Catalog Catalog
	Clients Clients
	Events  event.Publisher
	Metrics Recorder
	Logger  *slog.Logger
	Now     func() time.Time
	Build   string // version of this worker, for receipts
}

// Activities are the activities over one set of collaborators.
type Activities struct{ Deps }

// New checks that no collaborator is missing.
func New(d Deps) (*Activities, error) {
	switch {
	case d.Stores == nil:
		return nil, errors.New("activities: no stores")
	case d.Blobs == nil:
		return nil, errors.New("activities: no blob store")
	case d.Clients == nil:
		return nil, errors.New("activities: no model clients")
	case d.Events == nil:
		return nil, errors.New("activities: no event publisher")
	case d.Metrics == nil:
		return nil, errors.New("activities: no metrics recorder")
	case d.Logger == nil:
		return nil, errors.New("activities: no logger")
	case d.Now == nil:
		return nil, errors.New("activities: no clock")
	}
	return &Activities{d}, nil
}

// Registry is the part of a worker or test environment that activities register with.
type Registry interface {
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

// RegisterMain registers what runs on the main queue, among it what workflows run locally.
func (a *Activities) RegisterMain(r Registry) {
	r.RegisterActivityWithOptions(a.Review, activity.RegisterOptions{Name: contract.ActivityReview})
	r.RegisterActivityWithOptions(a.Publish, activity.RegisterOptions{Name: contract.ActivityPublish})
	r.RegisterActivityWithOptions(a.DeliverEvent, activity.RegisterOptions{Name: contract.ActivityDeliverEvent})
}

// RegisterModel registers what runs on the model queue.
func (a *Activities) RegisterModel(r Registry) {
	r.RegisterActivityWithOptions(a.CallModel, activity.RegisterOptions{Name: contract.ActivityCallModel})
}

// RegisterStore registers what runs on the queue of a session store.
func (a *Activities) RegisterStore(r Registry) {
	r.RegisterActivityWithOptions(a.PreparePlan, activity.RegisterOptions{Name: contract.ActivityPreparePlan})
	r.RegisterActivityWithOptions(a.Commit, activity.RegisterOptions{Name: contract.ActivityCommit})
	r.RegisterActivityWithOptions(a.Conclude, activity.RegisterOptions{Name: contract.ActivityConclude})
}
