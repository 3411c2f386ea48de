// Package contract holds the names and wire types that workflows, activities, workers and clients
// share: task queues, workflow and activity names, ids, inputs and results, outcomes, events and
// receipts. It is a leaf: it imports nothing of this module.
//
// Rules (DESIGN §4): one struct in, one struct out; JSON is camelCase; fields are only ever added;
// no text of a session or of a summary is carried by any type that a workflow sees, only ids,
// digests and numbers.
package contract
