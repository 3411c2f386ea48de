// Package blobtest is the conformance suite of blob drivers. It imports the port and test libraries.
package blobtest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/blob"
)

// Damage changes stored bytes.
type Damage func(stored []byte) []byte

// Fixture is one empty store under test.
type Fixture struct {
	Driver blob.Driver
	// Second is another instance on the same medium, as another process would open it; nil where the
	// medium has none.
	Second blob.Driver
	// Damage changes what is stored of a blob.
	Damage func(t *testing.T, d blob.Digest, how Damage)
	// Pass lets time pass on media that drop what expired themselves. When nil, Sweep is told a later now.
	Pass func(d time.Duration)
}

// sweep makes d pass and returns how many items Sweep says went.
func (f Fixture) sweep(t *testing.T, d time.Duration) int {
	t.Helper()
	if f.Pass != nil {
		f.Pass(d)
	}
	n, err := f.Driver.Sweep(t.Context(), time.Now().Add(d))
	require.NoError(t, err)
	return n
}

func (f Fixture) put(t *testing.T, data string) blob.Digest {
	t.Helper()
	d, err := f.Driver.Put(t.Context(), []byte(data))
	require.NoError(t, err)
	return d
}

func (f Fixture) has(t *testing.T, d blob.Digest, want string) {
	t.Helper()
	got, err := f.Driver.Get(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

// Run runs the suite; open makes a fresh empty store for each part.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	t.Helper()
	for name, part := range map[string]func(*testing.T, Fixture){
		"PutGet":              testPutGet,
		"BigBlob":             testBigBlob,
		"Missing":             testMissing,
		"Corrupt":             testCorrupt,
		"CorruptIsHealed":     testCorruptIsHealed,
		"Names":               testNames,
		"NamesAreSafe":        testNamesAreSafe,
		"BadNames":            testBadNames,
		"FirstWriterWins":     testFirstWriterWins,
		"Expiry":              testExpiry,
		"LatestDeadlineHolds": testLatestDeadlineHolds,
		"PutClearsExpiry":     testPutClearsExpiry,
		"RelinkClearsExpiry":  testRelinkClearsExpiry,
		"ConcurrentPuts":      testConcurrentPuts,
		"PutBeatsSweep":       testPutBeatsSweep,
		"Cancelled":           testCancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, open(t))
		})
	}
	t.Run("TwoInstances", func(t *testing.T) {
		t.Parallel()
		if f := open(t); f.Second != nil {
			testTwoInstances(t, f)
		}
	})
}

func testPutGet(t *testing.T, f Fixture) {
	for _, data := range []string{"", "x", "plain text", string([]byte{0, 255, 10, 13}), strings.Repeat("repeat ", 5000)} {
		d := f.put(t, data)
		require.Equal(t, blob.Of([]byte(data)), d)
		f.has(t, d, data)
		require.Equal(t, d, f.put(t, data), "the same data has the same digest")
		f.has(t, d, data)
	}
	// The caller owns what it passed and what it got.
	data := []byte("mine")
	d, err := f.Driver.Put(t.Context(), data)
	require.NoError(t, err)
	data[0] = 'X'
	got, err := f.Driver.Get(t.Context(), d)
	require.NoError(t, err)
	got[0] = 'Y'
	f.has(t, d, "mine")
}

func testBigBlob(t *testing.T, f Fixture) {
	rnd := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, 5<<20)
	_, _ = rnd.Read(noise)
	data := append(noise, bytes.Repeat([]byte("0123456789abcdef"), 5<<16)...)
	d, err := f.Driver.Put(t.Context(), data)
	require.NoError(t, err)
	got, err := f.Driver.Get(t.Context(), d)
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, got), "10 MB come back as they went in")
}

func testMissing(t *testing.T, f Fixture) {
	_, err := f.Driver.Get(t.Context(), blob.Of([]byte("never stored")))
	require.ErrorIs(t, err, blob.ErrNotFound)
	for _, d := range []blob.Digest{"", "../../etc/passwd", "zz"} {
		_, err = f.Driver.Get(t.Context(), d)
		require.ErrorIs(t, err, blob.ErrNotFound, "%q", d)
	}
	_, err = f.Driver.Resolve(t.Context(), "no/such/name")
	require.ErrorIs(t, err, blob.ErrNotFound)
	require.NoError(t, f.Driver.Expire(t.Context(), time.Hour,
		[]blob.Digest{blob.Of([]byte("never stored")), "bad"}, []string{"no/such/name", ""}), "unknown ones are ignored")
	require.Zero(t, f.sweep(t, 2*time.Hour))
}

var damages = map[string]Damage{
	"one bit":  func(b []byte) []byte { b = slices.Clone(b); b[len(b)/2] ^= 4; return b },
	"cut":      func(b []byte) []byte { return slices.Clone(b[:len(b)/2]) },
	"emptied":  func([]byte) []byte { return nil },
	"appended": func(b []byte) []byte { return append(slices.Clone(b), "junk"...) },
	"replaced": func([]byte) []byte { return []byte("something else altogether") },
}

func testCorrupt(t *testing.T, f Fixture) {
	for name, how := range damages {
		d := f.put(t, "content that will be damaged: "+name+strings.Repeat(" and some more of it", 20))
		f.Damage(t, d, how)
		got, err := f.Driver.Get(t.Context(), d)
		require.ErrorIs(t, err, blob.ErrCorrupt, name)
		require.Nil(t, got, name)
	}
}

func testCorruptIsHealed(t *testing.T, f Fixture) {
	data := strings.Repeat("to be damaged, then stored again; ", 20)
	d := f.put(t, data)
	f.Damage(t, d, damages["one bit"])
	require.Equal(t, d, f.put(t, data))
	f.has(t, d, data)
}

func testNames(t *testing.T, f Fixture) {
	one, two := f.put(t, "one"), f.put(t, "two")
	got, err := f.Driver.Link(t.Context(), "answer/a", one)
	require.NoError(t, err)
	require.Equal(t, one, got)
	got, err = f.Driver.Link(t.Context(), "answer/a", two)
	require.NoError(t, err)
	require.Equal(t, one, got, "the first writer wins")
	require.Equal(t, one, resolve(t, f, "answer/a"))

	require.NoError(t, f.Driver.Relink(t.Context(), "answer/a", two))
	require.Equal(t, two, resolve(t, f, "answer/a"))
	require.NoError(t, f.Driver.Relink(t.Context(), "fresh", one), "a name need not exist to be relinked")
	require.Equal(t, one, resolve(t, f, "fresh"))
}

func resolve(t *testing.T, f Fixture, name string) blob.Digest {
	t.Helper()
	d, err := f.Driver.Resolve(t.Context(), name)
	require.NoError(t, err, name)
	return d
}

func testNamesAreSafe(t *testing.T, f Fixture) {
	names := []string{
		"a", "A", "a/b", "a/B", "a/b/c", "a.name", "a.zst", ".", "..", "../x", "../../x", "a/../b", "-", "~", "%2e", "%2E", "a b",
		"con", `back\slash`, "quote'\"", "*?<>|:", "a%2fb", "a.expires", "b/a.expires", strings.Repeat("x", 300),
		strings.Repeat("x", 299) + "y", strings.Repeat("X", 300), strings.Repeat("deep/", 200) + "end",
	}
	for i, n := range names {
		_, err := f.Driver.Link(t.Context(), n, f.put(t, fmt.Sprint(i)))
		require.NoError(t, err, n)
	}
	for i, n := range names {
		require.Equal(t, blob.Of([]byte(fmt.Sprint(i))), resolve(t, f, n), "%q has a place of its own", n)
	}
}

func testBadNames(t *testing.T, f Fixture) {
	d := f.put(t, "x")
	for _, n := range []string{"", "/", "/a", "a/", "a//b", "a\x00b", "tab\t", "\u00fc", strings.Repeat("x", blob.MaxName+1)} {
		_, err := f.Driver.Link(t.Context(), n, d)
		require.ErrorIs(t, err, blob.ErrName, "%q", n)
		require.ErrorIs(t, f.Driver.Relink(t.Context(), n, d), blob.ErrName, "%q", n)
		_, err = f.Driver.Resolve(t.Context(), n)
		require.ErrorIs(t, err, blob.ErrNotFound, "%q", n)
	}
	_, err := f.Driver.Link(t.Context(), "good", "not-a-digest")
	require.Error(t, err)
	require.Error(t, f.Driver.Relink(t.Context(), "good", "../../x"))
	_, err = f.Driver.Resolve(t.Context(), "good")
	require.ErrorIs(t, err, blob.ErrNotFound)
}

func testFirstWriterWins(t *testing.T, f Fixture) {
	drivers := []blob.Driver{f.Driver}
	if f.Second != nil {
		drivers = append(drivers, f.Second)
	}
	const writers = 16
	got := make([]blob.Digest, writers)
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		d := f.put(t, fmt.Sprint(i))
		wg.Go(func() {
			got[i], errs[i] = drivers[i%len(drivers)].Link(t.Context(), "race/one", d)
		})
	}
	wg.Wait()
	for i := range writers {
		require.NoError(t, errs[i])
		require.Equal(t, got[0], got[i], "everybody is told the same winner")
	}
	require.Equal(t, got[0], resolve(t, f, "race/one"))
}

func testExpiry(t *testing.T, f Fixture) {
	kept, gone := f.put(t, "kept"), f.put(t, "gone")
	for n, d := range map[string]blob.Digest{"n/kept": kept, "n/gone": gone} {
		_, err := f.Driver.Link(t.Context(), n, d)
		require.NoError(t, err)
	}
	require.NoError(t, f.Driver.Expire(t.Context(), time.Hour, []blob.Digest{gone}, []string{"n/gone"}))
	f.sweep(t, time.Minute)
	f.has(t, gone, "gone")
	require.Equal(t, gone, resolve(t, f, "n/gone"))

	n := f.sweep(t, 2*time.Hour)
	if f.Pass == nil {
		require.Equal(t, 2, n, "one blob and one name went")
	}
	_, err := f.Driver.Get(t.Context(), gone)
	require.ErrorIs(t, err, blob.ErrNotFound)
	_, err = f.Driver.Resolve(t.Context(), "n/gone")
	require.ErrorIs(t, err, blob.ErrNotFound)
	f.has(t, kept, "kept")
	require.Equal(t, kept, resolve(t, f, "n/kept"))
	require.Zero(t, f.sweep(t, 3*time.Hour), "nothing is left to sweep")

	// What went can come back, without its old deadline.
	f.put(t, "gone")
	_, err = f.Driver.Link(t.Context(), "n/gone", gone)
	require.NoError(t, err)
	f.sweep(t, 100*time.Hour)
	f.has(t, gone, "gone")
	require.Equal(t, gone, resolve(t, f, "n/gone"))
}

func testLatestDeadlineHolds(t *testing.T, f Fixture) {
	d := f.put(t, "shared by two operations")
	require.NoError(t, f.Driver.Expire(t.Context(), 3*time.Hour, []blob.Digest{d}, nil))
	require.NoError(t, f.Driver.Expire(t.Context(), time.Hour, []blob.Digest{d}, nil))
	f.sweep(t, 2*time.Hour)
	f.has(t, d, "shared by two operations")
	f.sweep(t, 4*time.Hour)
	_, err := f.Driver.Get(t.Context(), d)
	require.ErrorIs(t, err, blob.ErrNotFound)
}

func testPutClearsExpiry(t *testing.T, f Fixture) {
	d := f.put(t, "needed again")
	require.NoError(t, f.Driver.Expire(t.Context(), time.Hour, []blob.Digest{d}, nil))
	f.put(t, "needed again")
	f.sweep(t, 2*time.Hour)
	f.has(t, d, "needed again")
}

func testRelinkClearsExpiry(t *testing.T, f Fixture) {
	d := f.put(t, "x")
	_, err := f.Driver.Link(t.Context(), "latest", d)
	require.NoError(t, err)
	require.NoError(t, f.Driver.Expire(t.Context(), time.Hour, nil, []string{"latest"}))
	require.NoError(t, f.Driver.Relink(t.Context(), "latest", d))
	f.sweep(t, 2*time.Hour)
	require.Equal(t, d, resolve(t, f, "latest"))
}

func testConcurrentPuts(t *testing.T, f Fixture) {
	var wg sync.WaitGroup
	errs := make(chan error, 32)
	for i := range 32 {
		wg.Go(func() {
			data := []byte(fmt.Sprintf("blob %d %s", i%4, strings.Repeat("pad", 1000)))
			d, err := f.Driver.Put(t.Context(), data)
			if err == nil {
				var got []byte
				if got, err = f.Driver.Get(t.Context(), d); err == nil && !bytes.Equal(got, data) {
					err = fmt.Errorf("blob %d came back changed", i%4)
				}
			}
			errs <- err
		})
	}
	wg.Wait()
	for range 32 {
		require.NoError(t, <-errs)
	}
}

// testPutBeatsSweep lets Put and Sweep run against each other: what a finished Put stored is there,
// as long as no deadline was set after it.
func testPutBeatsSweep(t *testing.T, f Fixture) {
	if f.Pass != nil {
		return // the medium drops expired values itself, and Put is one command there
	}
	for i := range 40 {
		data := fmt.Sprintf("wanted %d", i)
		d := f.put(t, data)
		require.NoError(t, f.Driver.Expire(t.Context(), time.Hour, []blob.Digest{d}, nil))
		var wg sync.WaitGroup
		var putErr, sweepErr error
		wg.Go(func() { _, putErr = f.Driver.Put(t.Context(), []byte(data)) })
		wg.Go(func() { _, sweepErr = f.Driver.Sweep(t.Context(), time.Now().Add(2*time.Hour)) })
		wg.Wait()
		require.NoError(t, putErr)
		require.NoError(t, sweepErr)
		f.has(t, d, data)
	}
}

func testCancelled(t *testing.T, f Fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := blob.Of([]byte("x"))
	_, err := f.Driver.Put(ctx, []byte("x"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Driver.Get(ctx, d)
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Driver.Link(ctx, "n", d)
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Driver.Resolve(ctx, "n")
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Driver.Sweep(ctx, time.Now())
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Driver.Get(t.Context(), d)
	require.ErrorIs(t, err, blob.ErrNotFound, "nothing was stored")
}

func testTwoInstances(t *testing.T, f Fixture) {
	d := f.put(t, "from the first")
	got, err := f.Second.Get(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, "from the first", string(got))
	_, err = f.Second.Link(t.Context(), "n", d)
	require.NoError(t, err)
	require.Equal(t, d, resolve(t, f, "n"))
	require.NoError(t, f.Second.Expire(t.Context(), time.Hour, []blob.Digest{d}, []string{"n"}))
	require.Equal(t, 2, f.sweep(t, 2*time.Hour))
	_, err = f.Second.Get(t.Context(), d)
	require.ErrorIs(t, err, blob.ErrNotFound)
}
