// Package record reads what an operation left in the blob store: its receipt and the compaction it
// made. It may import contract and the blob port, nothing else of ours.
package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"recap/internal/blob"
	"recap/internal/contract"
)

// ErrNone says that an operation has left nothing (yet, or any more: receipts are kept 90 days).
var ErrNone = errors.New("no receipt")

// NoCompactionError says that an operation ended without making a compaction.
type NoCompactionError struct{ Outcome contract.Outcome }

func (e *NoCompactionError) Error() string {
	return fmt.Sprintf("operation %s is %s and made no compaction: %s", e.Outcome.Operation, e.Outcome.State, e.Outcome.Message)
}

// Compaction is what a caller needs to write the entry itself (commit: return), in the field names
// of the session files.
type Compaction struct {
	Operation        string              `json:"operation"`
	Attempt          int                 `json:"attempt"`
	Session          contract.SessionRef `json:"session"`
	State            contract.State      `json:"state"`
	EntryID          string              `json:"entryId,omitempty"` // when recap wrote the entry
	Summary          string              `json:"summary"`
	FirstKeptEntryID string              `json:"firstKeptEntryId"`
	TokensBefore     *int                `json:"tokensBefore"`
	Details          Details             `json:"details"`
}

// Details go into the entry's details field. Recap is what a later run recognises its own entry by,
// so a caller should store it with the entry.
type Details struct {
	Recap Mark `json:"recap"`
}

// Mark names the operation that an entry belongs to.
type Mark struct {
	Operation string `json:"operation"`
	Attempt   int    `json:"attempt"`
}

// Receipt returns the receipt of an operation's last attempt, or an error that is ErrNone.
func Receipt(ctx context.Context, blobs blob.Driver, tenant, operation string) (contract.Receipt, error) {
	var r contract.Receipt
	data, err := resolve(ctx, blobs, tenant, operation)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("receipt of %s: %w", operation, err)
	}
	return r, nil
}

func resolve(ctx context.Context, blobs blob.Driver, tenant, operation string) ([]byte, error) {
	digest, err := blobs.Resolve(ctx, contract.OperationBlob(tenant, operation))
	if err == nil {
		var data []byte
		if data, err = blobs.Get(ctx, digest); err == nil {
			return data, nil
		}
	}
	if errors.Is(err, blob.ErrNotFound) {
		return nil, fmt.Errorf("operation %s of tenant %s: %w", operation, tenant, ErrNone)
	}
	return nil, fmt.Errorf("receipt of %s: %w", operation, err)
}

// Read returns the compaction an operation made: an error that is ErrNone while it runs, a
// *NoCompactionError when it ended in another way.
func Read(ctx context.Context, blobs blob.Driver, tenant, operation string) (Compaction, error) {
	r, err := Receipt(ctx, blobs, tenant, operation)
	if err != nil {
		return Compaction{}, err
	}
	return Of(ctx, blobs, r.Outcome)
}

// Of returns the compaction of an outcome.
func Of(ctx context.Context, blobs blob.Driver, out contract.Outcome) (Compaction, error) {
	if out.Summary == "" || (out.State != contract.StateCommitted && out.State != contract.StateReturned) {
		return Compaction{}, &NoCompactionError{Outcome: out}
	}
	text, err := blobs.Get(ctx, blob.Digest(out.Summary))
	if err != nil {
		return Compaction{}, fmt.Errorf("summary of %s: %w", out.Operation, err)
	}
	return Compaction{
		Operation: out.Operation, Attempt: out.Attempt, Session: out.Session, State: out.State, EntryID: out.EntryID,
		Summary: string(text), FirstKeptEntryID: out.FirstKeptEntryID, TokensBefore: out.TokensBefore,
		Details: Details{Recap: Mark{Operation: out.Operation, Attempt: out.Attempt}},
	}, nil
}
