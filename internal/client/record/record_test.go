package record

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"recap/internal/blob"
	"recap/internal/blob/mem"
	"recap/internal/compaction"
	"recap/internal/compaction/fileops"
	"recap/internal/contract"
	"recap/internal/session"
)

// put stores what the last step of an operation leaves.
func put(t *testing.T, blobs blob.Driver, out contract.Outcome, plan *compaction.Plan, summary string) {
	t.Helper()
	store := func(data []byte) string {
		d, err := blobs.Put(t.Context(), data)
		require.NoError(t, err)
		return string(d)
	}
	encode := func(v any) []byte {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		return data
	}
	r := contract.Receipt{Version: contract.ReceiptVersion, Outcome: out}
	if summary != "" {
		r.Outcome.Summary = store([]byte(summary))
	}
	if plan != nil {
		r.Plan = store(encode(plan))
	}
	d := store(encode(r))
	require.NoError(t, blobs.Relink(t.Context(), contract.OperationBlob("acme", out.Operation), blob.Digest(d)))
}

func returned(operation string) contract.Outcome {
	before := 900
	return contract.Outcome{
		Operation: operation, Attempt: 2, Session: contract.SessionRef{Tenant: "acme", Store: "s", ID: "x"},
		State: contract.StateReturned, FirstKeptEntryID: "e9", TokensBefore: &before,
	}
}

// A caller that writes the entry itself needs what recap would have written, in the session's own
// dialect, with the mark a later run recognises.
func TestReadDressesTheCompactionForItsDialect(t *testing.T) {
	t.Parallel()
	plan := compaction.Plan{
		FirstKeptEntryID: "e9", Focus: "the parser",
		Files: fileops.Lists{Read: []string{"a.go"}, Modified: []string{"b.go"}},
	}
	for _, tc := range []struct {
		dialect session.Dialect
		mark    func(Compaction) json.RawMessage
	}{
		{session.DialectPi, func(c Compaction) json.RawMessage { return c.Details }},
		{session.DialectVeyyon, func(c Compaction) json.RawMessage { return c.PreserveData }},
	} {
		blobs := mem.New()
		plan.Dialect = tc.dialect
		put(t, blobs, returned("op-1"), &plan, "the summary")
		got, err := Read(t.Context(), blobs, "acme", "op-1")
		require.NoError(t, err)
		require.Equal(t, "the summary", got.Summary)
		require.Equal(t, "e9", got.FirstKeptEntryID)
		require.Equal(t, 900, *got.TokensBefore)
		require.Equal(t, "the parser", got.CustomInstructions)
		require.Contains(t, string(got.Details), "b.go")
		require.JSONEq(t, `{"operation":"op-1","attempt":2}`, gjson.GetBytes(tc.mark(got), "recap").Raw, tc.dialect)
	}
}

// Plans are kept for a week, receipts longer: without the plan the compaction is still whole.
func TestReadWithoutThePlan(t *testing.T) {
	t.Parallel()
	blobs := mem.New()
	put(t, blobs, returned("op-1"), nil, "the summary")
	got, err := Read(t.Context(), blobs, "acme", "op-1")
	require.NoError(t, err)
	require.Equal(t, "the summary", got.Summary)
	require.Equal(t, "op-1", gjson.GetBytes(got.Details, "recap.operation").String())
}

func TestReadSaysWhyThereIsNone(t *testing.T) {
	t.Parallel()
	blobs := mem.New()
	_, err := Read(t.Context(), blobs, "acme", "op-1")
	require.ErrorIs(t, err, ErrNone)

	rejected := returned("op-1")
	rejected.State, rejected.Message = contract.StateRejected, "the gate refused it"
	put(t, blobs, rejected, nil, "a summary that was refused")
	_, err = Read(t.Context(), blobs, "acme", "op-1")
	var none *NoCompactionError
	require.ErrorAs(t, err, &none)
	require.Equal(t, contract.StateRejected, none.Outcome.State)

	_, err = Read(t.Context(), blobs, "other", "op-1")
	require.ErrorIs(t, err, ErrNone, "another tenant's operation is not this one")
}

func TestReceiptThatIsDamagedIsAnError(t *testing.T) {
	t.Parallel()
	blobs := mem.New()
	d, err := blobs.Put(t.Context(), []byte("no receipt"))
	require.NoError(t, err)
	require.NoError(t, blobs.Relink(t.Context(), contract.OperationBlob("acme", "op-1"), d))
	_, err = Receipt(t.Context(), blobs, "acme", "op-1")
	require.ErrorContains(t, err, "op-1")
	require.NotErrorIs(t, err, ErrNone)
}
