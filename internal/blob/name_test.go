package blob

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"answer/0123":                     true,
		"a":                               true,
		"a b/../~%":                       true, // odd, but drivers encode it
		strings.Repeat("x", MaxName):      true,
		strings.Repeat("x", MaxName+1):    false,
		"":                                false,
		"/a":                              false,
		"a/":                              false,
		"a//b":                            false,
		"a\nb":                            false,
		"a\x00":                           false,
		"caf\u00e9":                       false,
		"a\x7f":                           false,
		"op/" + strings.Repeat("/", 3):    false,
		"plan/" + strings.Repeat("f", 64): true,
	} {
		err := CheckName(name)
		if ok {
			require.NoError(t, err, "%q", name)
		} else {
			require.ErrorIs(t, err, ErrName, "%q", name)
		}
	}
}

func TestDigestValid(t *testing.T) {
	t.Parallel()
	require.True(t, Of(nil).Valid())
	require.Equal(t, Digest("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"), Of(nil))
	for _, d := range []Digest{"", "abc", "../../../../etc/passwd", Digest(strings.Repeat("A", 64)), Digest(strings.Repeat("g", 64))} {
		require.False(t, d.Valid(), "%q", d)
	}
}
