package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/contract"
)

// Settings that say nothing are empty on the wire, and on: every switch counts as on until it is off.
func TestSettingsSayNothingByDefault(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(contract.Settings{})
	require.NoError(t, err)
	require.JSONEq(t, "{}", string(text))
	on, off := true, false
	require.True(t, contract.On(nil))
	require.True(t, contract.On(&on))
	require.False(t, contract.On(&off))

	s := contract.Settings{IdleEnabled: true}.WithDefaults()
	require.Equal(t, contract.DefaultIdleThresholdTokens, s.IdleThresholdTokens)
	require.Equal(t, contract.DefaultIdleTimeoutSeconds, s.IdleTimeoutSeconds)
	require.Nil(t, s.ReserveTokens, "THR-03: defaults keep the reserve unset")
}

func TestRequestRefusesUnknownSettings(t *testing.T) {
	t.Parallel()
	request := func(s contract.Settings) error {
		return contract.Request{
			RequestID: "r", Session: contract.SessionRef{Tenant: "t", Store: "s", ID: "i"}, Settings: s,
		}.Normalize().Validate()
	}
	require.NoError(t, request(contract.Settings{}))
	require.NoError(t, request(contract.Settings{ModelFallbackStrategy: contract.FallbackConfiguredOnly}))
	require.EqualError(t, request(contract.Settings{ModelFallbackStrategy: "all"}),
		`request r: unknown modelFallbackStrategy "all" (auto or configured-only)`)
	require.EqualError(t, request(contract.Settings{ModelContextWindow: -1}), "request r: modelContextWindow must not be negative, is -1")
}
