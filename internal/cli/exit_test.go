package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/client"
	"recap/internal/client/record"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/devstack"
	"recap/internal/session"
	"recap/internal/store"
)

// One terminal state has one exit code (DESIGN §4, §9, promise G6).
func TestExitCodeOfEveryState(t *testing.T) {
	t.Parallel()
	want := map[contract.State]int{
		contract.StateCommitted: 0, contract.StateReturned: 0, contract.StateSkipped: 0, contract.StateStale: 6,
		contract.StateRejected: 3, contract.StateFailed: 1, contract.StateNeedsOperator: 75, contract.StateCancelled: 130,
	}
	require.Len(t, want, len(contract.States))
	for _, s := range contract.States {
		code, known := want[s]
		require.True(t, known, s)
		require.Equal(t, code, exitOfOutcome(contract.Outcome{State: s}, false), s)
	}
	require.Equal(t, 1, exitOfOutcome(contract.Outcome{State: "unheardOf"}, false))
}

func TestExitCodeRefinedByReason(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		state      contract.State
		reason     contract.Code
		failOnNoop bool
		want       int
	}{
		{contract.StateSkipped, contract.CodeNothingToCompact, false, 0},
		{contract.StateSkipped, contract.CodeNothingToCompact, true, 4},
		{contract.StateSkipped, contract.CodeBelowThreshold, true, 4},
		{contract.StateSkipped, contract.CodeEmptySession, true, 4},
		{contract.StateSkipped, contract.CodeLiveWriter, false, 6},
		{contract.StateSkipped, contract.CodeLiveWriter, true, 6},
		{contract.StateSkipped, contract.CodeCallInFlight, false, 6},
		{contract.StateSkipped, contract.CodeBusy, false, 6},
		{contract.StateSkipped, contract.CodeAlreadyApplied, true, 0},
		{contract.StateNeedsOperator, contract.CodeQuota, false, 75},
		{contract.StateNeedsOperator, contract.CodeCredentials, false, 77},
		{contract.StateFailed, contract.CodeSessionNotFound, false, 5},
		{contract.StateFailed, contract.CodeNotASession, false, 1},
	} {
		got := exitOfOutcome(contract.Outcome{State: tc.state, Reason: tc.reason}, tc.failOnNoop)
		require.Equal(t, tc.want, got, "%s %s %v", tc.state, tc.reason, tc.failOnNoop)
	}
}

func TestExitCodeOfEveryError(t *testing.T) {
	t.Parallel()
	cli := func(k client.Kind) error { return &client.Error{Kind: k} }
	str := func(k store.Kind) error { return &store.Error{Kind: k} }
	for _, tc := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{usagef("no"), 2},
		{&config.Error{}, 2},
		{&config.SecretError{Env: "KEY"}, 77},
		{&session.PathError{}, 1},
		{&record.NoCompactionError{}, 1},
		{record.ErrNone, 5},
		{&devstack.InUseError{}, 75},
		{devstack.ErrNoProgram, 75},
		{errStackEnded, 75},
		{errTimeout, 124},
		{errInterrupted, 130},
		{context.Canceled, 130},
		{exitWith(7), 7},
		{cli(client.KindNotFound), 5},
		{cli(client.KindUnavailable), 75},
		{cli(client.KindCredentials), 77},
		{cli(client.KindInvalid), 2},
		{cli(client.KindClosed), 0},
		{cli(client.KindLost), 1},
		{cli(client.KindInternal), 1},
		{str(store.KindNotFound), 5},
		{str(store.KindNotSession), 1},
		{str(store.KindDamaged), 1},
		{str(store.KindUnreadable), 1},
		{str(store.KindReadOnly), 1},
		{str(store.KindNoSpace), 1},
		{str(store.KindIO), 1},
		{str(store.KindOutside), 2},
		{str(store.KindConflict), 6},
		{str(store.KindBusy), 6},
	} {
		require.Equal(t, tc.want, exitOf(tc.err), "%v", tc.err)
		if tc.err != nil {
			require.Equal(t, tc.want, exitOf(fmt.Errorf("wrapped: %w", tc.err)), "wrapped %v", tc.err)
			require.Equal(t, tc.want, exitOf(errors.Join(tc.err, nil)), "joined %v", tc.err)
		}
	}
	require.NoError(t, exitWith(0))
}
