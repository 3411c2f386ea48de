package sample_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image/png"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/sample"
)

var languages = []string{"en", "pt", "ja", "zh", "ar", "ru"}

// record is what the tests need of an entry.
type record struct {
	Type, ID   string
	ParentID   *string
	Version    *int
	Timestamp  time.Time
	FirstKept  string `json:"firstKeptEntryId"`
	FirstIndex int    `json:"firstKeptEntryIndex"`
	FromID     string
	Message    struct {
		Role       string
		Content    json.RawMessage
		StopReason string
		ToolCallID string
		Usage      struct{ Input, Output, CacheRead, CacheWrite, TotalTokens int }
	}
}

type block struct{ Type, ID, Text, Data, ThinkingSignature string }

func (r *record) blocks(t require.TestingT) []block {
	var text string
	if json.Unmarshal(r.Message.Content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var out []block
	require.NoError(t, json.Unmarshal(r.Message.Content, &out))
	return out
}

func records(t require.TestingT, data []byte) []record {
	var out []record
	require.True(t, bytes.HasSuffix(data, []byte("\n")))
	for line := range bytes.Lines(data) {
		var r record
		require.NoError(t, json.Unmarshal(line, &r), "%s", line)
		out = append(out, r)
	}
	return out
}

func TestSameOptionsGiveSameBytes(t *testing.T) {
	t.Parallel()
	for _, lang := range languages {
		o := sample.Options{Seed: 7, Language: lang, Compactions: 2}
		require.Equal(t, sample.Generate(o), sample.Generate(o))
		other := o
		other.Seed = 8
		require.NotEqual(t, sample.Generate(o), sample.Generate(other))
	}
}

// TestTreeIsWellFormed checks what a strict reader would: ids unique, parents known and earlier,
// every result behind its call, times that never go back.
func TestTreeIsWellFormed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := sample.Options{
			Seed: rapid.Uint64().Draw(t, "seed"), Entries: rapid.IntRange(1, 400).Draw(t, "entries"),
			Language: rapid.SampledFrom(languages).Draw(t, "language"), Compactions: rapid.IntRange(0, 3).Draw(t, "compactions"),
			Linear: rapid.Bool().Draw(t, "linear"),
		}
		data, story := sample.Build(o)
		rs := records(t, data)
		require.Equal(t, "session", rs[0].Type)
		require.Equal(t, 3, *rs[0].Version)
		require.GreaterOrEqual(t, len(rs)-1, o.Entries)
		require.Equal(t, len(rs)-1, story.Entries)
		require.EqualValues(t, len(data), story.Bytes)
		seen := map[string]int{}
		var open []string
		for i, r := range rs[1:] {
			require.Regexp(t, "^[0-9a-f]{8}$", r.ID)
			require.NotContains(t, seen, r.ID)
			if i == 0 {
				require.Nil(t, r.ParentID)
			} else {
				require.Contains(t, seen, *r.ParentID)
			}
			seen[r.ID] = i
			require.False(t, r.Timestamp.Before(rs[i].Timestamp))
			switch {
			case r.Message.Role == "assistant":
				require.Empty(t, open)
				for _, b := range r.blocks(t) {
					if b.Type == "toolCall" {
						open = append(open, b.ID)
					}
				}
				require.Equal(t, len(open) > 0, r.Message.StopReason == "toolUse")
			case r.Message.Role == "toolResult":
				require.Equal(t, open[0], r.Message.ToolCallID)
				open = open[1:]
			default:
				require.Empty(t, open)
			}
			if r.FirstKept != "" {
				require.Contains(t, seen, r.FirstKept)
				require.Equal(t, "user", rs[1+seen[r.FirstKept]].Message.Role)
			}
		}
		require.Equal(t, o.Compactions, len(story.Compactions))
		last := rs[len(rs)-1]
		require.Equal(t, "user", last.Message.Role)
		require.Equal(t, story.Question, last.blocks(t)[0].Text)
		require.Equal(t, story.Leaf, last.ID)
	})
}

// TestUsageFollowsTheConversation: thresholds judge usage, so it must grow with what was said, and
// fall at a compaction.
func TestUsageFollowsTheConversation(t *testing.T) {
	t.Parallel()
	data, story := sample.Build(sample.Options{Seed: 1, Compactions: 1})
	before, fell := 0, false
	for _, r := range records(t, data) {
		u := r.Message.Usage
		if r.Type == "compaction" {
			fell = true
			before = 0
		}
		if u.TotalTokens == 0 {
			continue
		}
		require.Equal(t, u.TotalTokens, u.Input+u.Output+u.CacheRead+u.CacheWrite)
		if !isAbandoned(story, r.ID) {
			require.Greater(t, u.TotalTokens, before)
			before = u.TotalTokens
		}
	}
	require.True(t, fell)
	_, long := sample.Build(sample.Options{Seed: 1})
	require.InDelta(t, float64(long.Bytes)/4, float64(long.ContextTokens), float64(long.Bytes)/8)
}

func isAbandoned(s sample.Story, id string) bool {
	for _, a := range s.Abandoned {
		if a == id {
			return true
		}
	}
	return false
}

func TestSessionHasWhatRealOnesHave(t *testing.T) {
	t.Parallel()
	data, story := sample.Build(sample.Options{Seed: 3, Compactions: 1})
	types, roles, stops, blocks := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	parallel := false
	for _, r := range records(t, data)[1:] {
		types[r.Type]++
		roles[r.Message.Role]++
		stops[r.Message.StopReason]++
		calls := 0
		if r.Message.Role == "user" || r.Message.Role == "assistant" || r.Message.Role == "toolResult" {
			for _, b := range r.blocks(t) {
				blocks[b.Type]++
				if b.Type == "toolCall" {
					calls++
				}
				if b.Type == "thinking" {
					require.NotEmpty(t, b.ThinkingSignature)
				}
				if b.Type == "image" {
					raw, err := base64.StdEncoding.DecodeString(b.Data)
					require.NoError(t, err)
					_, err = png.Decode(bytes.NewReader(raw))
					require.NoError(t, err)
				}
			}
		}
		parallel = parallel || calls > 1
	}
	for _, want := range []string{
		"message", "model_change", "thinking_level_change", "label", "session_info", "custom", "custom_message", "branch_summary", "compaction",
	} {
		require.Positive(t, types[want], want)
	}
	for _, want := range []string{"user", "assistant", "toolResult", "bashExecution"} {
		require.Positive(t, roles[want], want)
	}
	for _, want := range []string{"stop", "toolUse", "aborted", "error"} {
		require.Positive(t, stops[want], want)
	}
	for _, want := range []string{"text", "thinking", "toolCall", "image"} {
		require.Positive(t, blocks[want], want)
	}
	require.True(t, parallel)
	require.Greater(t, len(story.Abandoned), 3)
}

func TestFactsArePlantedWhereTheStorySays(t *testing.T) {
	t.Parallel()
	want := []string{"Port 6543 is staging.", "Ticket HB-9917 blocks us.", "The pilot's name is Ødegård."}
	for _, entries := range []int{1, 60, 400} {
		data, story := sample.Build(sample.Options{Seed: 5, Entries: entries, Facts: want})
		rs := records(t, data)
		require.Len(t, story.Facts, len(want))
		for i, f := range story.Facts {
			require.Equal(t, want[i], f.Text)
			require.Equal(t, f.ID, rs[f.Entry].ID)
			require.Contains(t, rs[f.Entry].blocks(t)[0].Text, f.Text)
			require.False(t, isAbandoned(story, f.ID))
		}
	}
}

func TestEachLanguageSpeaksItself(t *testing.T) {
	t.Parallel()
	scripts := map[string]*unicode.RangeTable{
		"en": unicode.Latin, "pt": unicode.Latin, "ja": unicode.Hiragana, "zh": unicode.Han, "ar": unicode.Arabic, "ru": unicode.Cyrillic,
	}
	for _, lang := range languages {
		data, story := sample.Build(sample.Options{Seed: 2, Language: lang})
		require.NotContains(t, string(data), "%!", "a phrase does not fit its arguments")
		require.True(t, strings.ContainsFunc(story.Question, func(r rune) bool { return unicode.Is(scripts[lang], r) }))
		require.NotEqual(t, story.First, story.Question)
	}
}

func TestVersion1IsAPlainList(t *testing.T) {
	t.Parallel()
	data := sample.Generate(sample.Options{Seed: 4, Version: 1, Compactions: 1})
	rs := records(t, data)
	require.Nil(t, rs[0].Version)
	compactions := 0
	for i, r := range rs[1:] {
		require.Empty(t, r.ID)
		require.Nil(t, r.ParentID)
		require.Contains(t, []string{"message", "model_change", "thinking_level_change", "compaction"}, r.Type)
		if r.Type == "compaction" {
			compactions++
			require.Less(t, r.FirstIndex, i+1)
			require.Equal(t, "user", rs[r.FirstIndex].Message.Role)
		}
	}
	require.Equal(t, 1, compactions)
}

func TestWriteToGoesOnUntilTheFileIsLargeEnough(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	story, err := sample.WriteTo(&b, sample.Options{Seed: 9, Bytes: 3 << 20})
	require.NoError(t, err)
	require.GreaterOrEqual(t, b.Len(), 3<<20)
	require.Less(t, b.Len(), 4<<20)
	require.EqualValues(t, b.Len(), story.Bytes)
}

type broken struct{ room int }

var errDisk = errors.New("disk full")

func (w *broken) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

func TestWriteToReportsTheWritersError(t *testing.T) {
	t.Parallel()
	for _, room := range []int{0, 100 << 10} {
		_, err := sample.WriteTo(&broken{room}, sample.Options{Bytes: 1 << 20})
		require.ErrorIs(t, err, errDisk)
	}
}

func BenchmarkWriteTo(b *testing.B) {
	for b.Loop() {
		s, err := sample.WriteTo(discard{}, sample.Options{Bytes: 16 << 20})
		require.NoError(b, err)
		b.SetBytes(s.Bytes)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
