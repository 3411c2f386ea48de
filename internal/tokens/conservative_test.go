package tokens_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/tokens"
)

// sorts are texts of the kinds that were measured with the o200k vocabulary, with the ratio of
// characters/4 to real tokens found there.
func sorts() map[string]struct {
	text  string
	ratio float64
} {
	var digests, b64, uuids, logs, lock strings.Builder
	for i := range 400 {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		digests.WriteString(hex.EncodeToString(sum[:]) + "\n")
		b64.WriteString(base64.StdEncoding.EncodeToString(append(sum[:], sum[:16]...)) + "\n")
		h := hex.EncodeToString(sum[:16])
		fmt.Fprintf(&uuids, "%s-%s-%s-%s-%s\n", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
		fmt.Fprintf(&logs, "2026-05-%02dT09:%02d:%02d.%03dZ INFO worker-%d handled request id=%d in %d.%dms\n", i%28+1, i%60, i*7%60, i*13%1000, i%8, 100000+i*37, i%90, i%10)
		fmt.Fprintf(&lock, "    \"node_modules/pkg-%d\": {\n      \"version\": \"%d.%d.%d\",\n      \"resolved\": \"https://registry.example/pkg-%d/-/pkg-%d.tgz\",\n      \"integrity\": \"sha512-%s\"\n    },\n",
			i, i%20, i%7, i%13, i, i, base64.StdEncoding.EncodeToString(append(sum[:], sum[:]...)))
	}
	code := strings.Repeat("func (s *Server) handle(w http.ResponseWriter, r *http.Request) error {\n\tif err := s.check(r.Context(), r.URL.Path); err != nil {\n\t\treturn fmt.Errorf(\"check %s: %w\", r.URL.Path, err)\n\t}\n\treturn nil\n}\n\n", 60)
	prose := strings.Repeat("The importer reads every row once and writes what it understood, so that a second run has nothing left to do. ", 100)
	chinese := strings.Repeat("请把计费任务改名，然后更新部署脚本并运行全部测试。", 200)
	return map[string]struct {
		text  string
		ratio float64
	}{
		"hex": {digests.String(), 0.52}, "base64": {b64.String(), 0.40}, "uuid": {uuids.String(), 0.39},
		"logs": {logs.String(), 0.55}, "lock file": {lock.String(), 0.61}, "code": {code, 0.86},
		"prose": {prose, 1.02}, "chinese": {chinese, 0.36},
	}
}

func TestConservativeDoesNotFallShortOfATokenizer(t *testing.T) {
	t.Parallel()
	for name, s := range sorts() {
		real := float64(utf8.RuneCountInString(s.text)) / 4 / s.ratio
		got := float64(tokens.Conservative(s.text))
		require.GreaterOrEqualf(t, got, real, "%s: %.0f for about %.0f tokens", name, got, real)
		require.Lessf(t, got, 1.6*real, "%s: %.0f for about %.0f tokens wastes the window", name, got, real)
	}
}

func TestConservativeIsNeverLessThanAFewBytesAToken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		got := tokens.Conservative(s)
		require.GreaterOrEqual(t, got*4+3, len(s))
		require.LessOrEqual(t, got, len(s))
	})
	require.Zero(t, tokens.Conservative(""))
	require.Positive(t, tokens.Conservative("\xe4\xb8"), "text that ends within a character")
}

func BenchmarkConservative(b *testing.B) {
	for name, s := range sorts() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s.text)))
			for b.Loop() {
				tokens.Conservative(s.text)
			}
		})
	}
}
