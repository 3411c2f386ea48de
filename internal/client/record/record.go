// Package record reads what an operation left in the blob store: its receipt and the compaction it
// made, in the form of the session's dialect. It may import pure packages and the blob port, nothing
// else of ours.
package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"recap/internal/blob"
	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/session"
)

// ErrNone says that an operation has left nothing (yet, or any more: receipts are kept 90 days).
var ErrNone = errors.New("no receipt")

// NoCompactionError says that an operation ended without making a compaction.
type NoCompactionError struct{ Outcome contract.Outcome }

func (e *NoCompactionError) Error() string {
	return fmt.Sprintf("operation %s is %s and made no compaction: %s", e.Outcome.Operation, e.Outcome.State, e.Outcome.Message)
}

// Compaction is what a caller needs to write the entry itself (commit: return), in the field names
// of the session files. Details and PreserveData have the form of the session's dialect and hold the
// mark by which a later run recognises the entry, so a caller should store both as they are.
type Compaction struct {
	Operation          string              `json:"operation"`
	Attempt            int                 `json:"attempt"`
	Session            contract.SessionRef `json:"session"`
	State              contract.State      `json:"state"`
	EntryID            string              `json:"entryId,omitempty"` // when recap wrote the entry
	Summary            string              `json:"summary"`
	FirstKeptEntryID   string              `json:"firstKeptEntryId"`
	TokensBefore       *int                `json:"tokensBefore"`
	Details            json.RawMessage     `json:"details,omitempty"`
	PreserveData       json.RawMessage     `json:"preserveData,omitempty"`
	CustomInstructions string              `json:"customInstructions,omitempty"`
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
	out := r.Outcome
	if out.Summary == "" || (out.State != contract.StateCommitted && out.State != contract.StateReturned) {
		return Compaction{}, &NoCompactionError{Outcome: out}
	}
	text, err := blobs.Get(ctx, blob.Digest(out.Summary))
	if err != nil {
		return Compaction{}, fmt.Errorf("summary of %s: %w", operation, err)
	}
	c := Compaction{
		Operation: out.Operation, Attempt: out.Attempt, Session: out.Session, State: out.State, EntryID: out.EntryID,
		Summary: string(text), FirstKeptEntryID: out.FirstKeptEntryID, TokensBefore: out.TokensBefore,
	}
	return c, c.dress(ctx, blobs, r.Plan)
}

// dress adds what the plan knows: file lists and focus, in the form of the session's dialect. Plans
// are kept for a week; without one only the mark is added, in the form of pi.
func (c *Compaction) dress(ctx context.Context, blobs blob.Driver, planDigest string) error {
	plan := compaction.Plan{Dialect: session.DialectPi, FirstKeptEntryID: c.FirstKeptEntryID, TokensBefore: c.TokensBefore}
	data, err := blobs.Get(ctx, blob.Digest(planDigest))
	switch {
	case planDigest == "" || errors.Is(err, blob.ErrNotFound):
	case err != nil:
		return fmt.Errorf("plan of %s: %w", c.Operation, err)
	default:
		if err := json.Unmarshal(data, &plan); err != nil {
			return fmt.Errorf("plan of %s: %w", c.Operation, err)
		}
	}
	entry := compaction.NewEntry(&plan, c.Summary)
	entry.Recap = session.RecapMark{Operation: c.Operation, Attempt: c.Attempt}
	object, err := session.BuildCompaction(plan.Dialect, entry)
	if err != nil {
		return fmt.Errorf("compaction of %s: %w", c.Operation, err)
	}
	decoded, err := session.DecodeCompaction(object)
	if err != nil {
		return fmt.Errorf("compaction of %s: %w", c.Operation, err)
	}
	c.Details, c.PreserveData, c.CustomInstructions = decoded.Details, decoded.PreserveData, decoded.CustomInstructions
	return nil
}
