package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"recap/internal/event"
)

// StreamName is the stream that keeps events.
const StreamName = "RECAP_EVENTS"

// StreamOptions say what the stream keeps. Zero values mean the defaults.
type StreamOptions struct {
	MaxAge   time.Duration // default 30 days
	Replicas int           // default 1
}

// DefaultMaxAge is how long the stream keeps events.
const DefaultMaxAge = 30 * 24 * time.Hour

// Window is how long the server remembers event ids to drop repetitions. An event is published again
// when its acknowledgement was lost, or when the worker died after publishing: within minutes while
// workers run, after hours if all of them were down. Deliveries back off to a few minutes at most, so
// a day is far more than twice their horizon, and a day of ids costs a few megabytes.
const Window = 24 * time.Hour

// EnsureStream creates the event stream, or brings one that exists to what o says. What an operator
// set on it otherwise (limits, placement, compression) stays.
func EnsureStream(ctx context.Context, js jetstream.JetStream, o StreamOptions) error {
	if o.MaxAge == 0 {
		o.MaxAge = DefaultMaxAge
	}
	want := jetstream.StreamConfig{
		Name:        StreamName,
		Description: "Events of recap: facts about operations on sessions",
		Subjects:    []string{event.Subjects},
		Storage:     jetstream.FileStorage,
		Compression: jetstream.S2Compression,
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardOld,
		MaxAge:      o.MaxAge,
		Duplicates:  min(Window, o.MaxAge),
		Replicas:    max(o.Replicas, 1),
		AllowDirect: true,
	}
	stream, err := js.Stream(ctx, StreamName)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if _, err = js.CreateStream(ctx, want); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return nil // another worker was faster, with options of its own
		}
		return wrapStream("create", err)
	}
	if err != nil {
		return wrapStream("look up", err)
	}
	have := stream.CachedInfo().Config
	if have.MaxAge == want.MaxAge && have.Duplicates == want.Duplicates && slices.Contains(have.Subjects, event.Subjects) &&
		(o.Replicas == 0 || have.Replicas == o.Replicas) {
		return nil
	}
	have.MaxAge, have.Duplicates = want.MaxAge, want.Duplicates
	if !slices.Contains(have.Subjects, event.Subjects) {
		have.Subjects = append(have.Subjects, event.Subjects)
	}
	if o.Replicas != 0 {
		have.Replicas = o.Replicas
	}
	_, err = js.UpdateStream(ctx, have)
	return wrapStream("update", err)
}

func wrapStream(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the event stream %s: %w", verb, StreamName, err)
}
