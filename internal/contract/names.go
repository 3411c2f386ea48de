package contract

// Task queues. A store queue is polled only by workers that have that store and its blob store.
const (
	QueueMain  = "recap"
	QueueModel = "recap-model"
)

// StoreQueue names the task queue of everything that touches the named session store.
func StoreQueue(store string) string { return "recap.store." + store }

// Workflow type names.
const (
	WorkflowCompact       = "Compact"
	WorkflowDeliverEvents = "DeliverEvents"
)

// Activity type names.
const (
	ActivityPreparePlan  = "PreparePlan"
	ActivityCallModel    = "CallModel"
	ActivityReview       = "Review" // local activity
	ActivityCommit       = "Commit"
	ActivityConclude     = "Conclude"     // receipt and outcome record of a run that committed nothing
	ActivityPublish      = "Publish"      // local activity, short, once
	ActivityDeliverEvent = "DeliverEvent" // retried until the broker acknowledges
)

// Signals and queries of an operation workflow.
const (
	SignalProceed = "proceed" // ends a durable wait at once
	QueryStatus   = "status"
)

// Search attributes, all of type Keyword. A server that does not know them must not block a start.
const (
	AttrTenant    = "RecapTenant"
	AttrSession   = "RecapSession"
	AttrTrigger   = "RecapTrigger"
	AttrState     = "RecapState"
	AttrReason    = "RecapReason"
	AttrOperation = "RecapOperation"
)

// MemoOperation is the memo key that holds the operation id a run was started for; a caller that
// joined a run reads it to learn whose operation it joined.
const MemoOperation = "recapOperation"

// MaxPayload is the largest size in bytes of any payload in a workflow history (promise G9).
const MaxPayload = 64 << 10
