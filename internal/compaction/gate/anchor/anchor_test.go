package anchor_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/compaction/gate/anchor"
)

func TestShapes(t *testing.T) {
	t.Parallel()
	for run, want := range map[string]anchor.Kind{
		"src/a.go": anchor.Path, "/etc/hosts/allow": anchor.Path, "./src/a.go:12:3": anchor.Path, `C:\work\src\a.go`: anchor.Path, "a/b/c": anchor.None,
		"and/or": anchor.None, "1/2": anchor.None, "/": anchor.None, "main.go": anchor.File, "main.go:12": anchor.File, "Node.js": anchor.None,
		"e.g": anchor.None, "pkg.Func": anchor.None, "x.c": anchor.None, ".env": anchor.None, "a@b.go": anchor.None, ".d.ts": anchor.None, "x.d.ts": anchor.File,
		"https://example.org/x": anchor.URL, "x://": anchor.None, "4f9a2c7": anchor.ID, "deadbeef": anchor.None, "1234567": anchor.Number,
		"3f2b8c1e-0d4a-4c55-9b7f-2a6d1e8f9c10": anchor.ID, "OPS-1182": anchor.Ticket, "UTF-8": anchor.None, "SHA-256": anchor.None, "ops-1182": anchor.None,
		"ENOENT": anchor.Error, "EVERY": anchor.None, "TS2345": anchor.Error, "E_LOCKED_7031": anchor.Error, "LOCK_7031": anchor.Error, "MAX_RETRIES": anchor.None, "V888": anchor.None, "ERR_MODULE_NOT_FOUND": anchor.Error,
		"47,500": anchor.Number, "12.5s": anchor.Number, "85%": anchor.Number, "03:40": anchor.Number, "v1.2.3": anchor.Number, "500ms": anchor.Number,
		"word": anchor.None, "redacted:api-key:1a2b3c4d": anchor.None,
	} {
		require.Equal(t, want, anchor.Classify(run), run)
	}
}

// TestEqualAnchorsAreEqual is trap 5 of spec/gate §9: the normaliser is published and tested.
func TestEqualAnchorsAreEqual(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"src/a.go", "./src/a.go", "../src/a.go", `src\a.go`, "src/a.go:12", "src/a.go:12:7", "src/a.go#L40", ".../src/a.go", "SRC/A.go"},
		{"47500", "47,500"},
		{"4f9a2c7", "4F9A2C7"},
		{"v1.2.3", "1.2.3", "V1.2.3"},
		{"https://example.org/x", "https://example.org/x/"},
		{"03:40", "03:40"},
	} {
		for _, other := range same {
			require.Equal(t, anchor.Normal(same[0]), anchor.Normal(other), other)
		}
	}
	require.NotEqual(t, anchor.Normal("src/a.go"), anchor.Normal("src/b.go"))
}

func TestScanFindsThemInProse(t *testing.T) {
	t.Parallel()
	text := "已修改`jobs/billing.yaml`(commit 4f9a2c71be)。 See (https://example.org/a), main.go:12, 47,500 rows; OPS-7."
	var got []string
	for _, a := range anchor.Scan(text) {
		require.Equal(t, a.Text, text[a.Start:a.Start+len(a.Text)])
		got = append(got, a.Norm)
	}
	require.Empty(t, cmp.Diff([]string{"jobs/billing.yaml", "4f9a2c71be", "https://example.org/a", "main.go", "47500", "ops-7"}, got))
}

func TestScanHoldsOnAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "/", ".", ":", "go", "1", ",", "-", " ", "://", "~", "\\", "語", "%", "E", "#"})).Draw(t, "parts"), "")
		for _, a := range anchor.Scan(text) {
			if a.Text != text[a.Start:a.Start+len(a.Text)] {
				t.Fatalf("%q is not at %d of %q", a.Text, a.Start, text)
			}
		}
	})
}
