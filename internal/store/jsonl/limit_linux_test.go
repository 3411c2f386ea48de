package jsonl

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/store"
	"recap/internal/store/storetest"
)

// limitRoot is the store that a child process of TestKernelEndsAWriteInTheMiddle works on.
const limitRoot = "RECAP_TEST_LIMIT_ROOT"

// TestKernelEndsAWriteInTheMiddle lets the kernel cut a write short, by a limit on the size of files
// in a child process: the existing bytes stay, what we wrote becomes blank, and the next writer has a
// line of his own.
func TestKernelEndsAWriteInTheMiddle(t *testing.T) {
	if root := os.Getenv(limitRoot); root != "" {
		appendUnderLimit(t, root)
		return
	}
	t.Parallel()
	before := messages(2)
	d, id := file(t, before)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), limitRoot+"="+d.root)
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "100 bytes reached the file")

	after := content(t, d, id)
	require.Equal(t, before, after[:len(before)])
	require.Empty(t, strings.TrimSpace(after[len(before):]))
	foreign(t, d, id, string(storetest.User("theirs", "m0002", "x"))+"\n")
	s := load(t, d, id, store.ScopeAll)
	require.Empty(t, s.Log().Report.Damage)
	require.Equal(t, []string{"m0001", "m0002", "theirs"}, pathIDs(t, s))
}

// appendUnderLimit runs in the child.
func appendUnderLimit(t *testing.T, root string) {
	signal.Ignore(syscall.SIGXFSZ)
	d := open(t, root)
	s := load(t, d, "s.jsonl", store.ScopeAll)
	limit := uint64(s.Size()) + 100
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}))
	_, err := d.Append(t.Context(), "s.jsonl", store.Expect{Revision: s.Revision()},
		[]store.NewEntry{storetest.NewUser("ours", strings.Repeat("x", 1000))})
	require.Equal(t, store.KindNoSpace, store.KindOf(err), "%v", err)
	require.NotContains(t, err.Error(), "\n")
	info, err := os.Stat(filepath.Join(root, "s.jsonl"))
	require.NoError(t, err)
	t.Logf("%d bytes reached the file", info.Size()-s.Size())
}
