package compaction_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"recap/prompts"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRequestsAsRendered compares plans and rendered requests with golden archives. The comment of an
// archive gives budget and focus; session.jsonl is the session; the other files are what comes out.
// Prompts stand as [initial], [update] and so on: their bytes are pinned elsewhere.
func TestRequestsAsRendered(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/requests/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			require.Equal(t, "session.jsonl", archive.Files[0].Name)
			got := &txtar.Archive{Comment: archive.Comment, Files: archive.Files[:1]}

			in := input(parse(t, string(archive.Files[0].Data)), 0)
			for line := range strings.Lines(string(archive.Comment)) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
				switch key {
				case "keep":
					in.Settings.KeepRecentTokens, err = strconv.Atoi(value)
					require.NoError(t, err)
				case "focus":
					in.Focus = value
				}
			}
			p := prepare(t, in)
			require.NotNil(t, p)
			for _, r := range p.Requests() {
				got.Files = append(got.Files, txtar.File{Name: string(r.Part) + ".txt", Data: []byte(named(r.UserText()) + "\n")})
			}
			p.Plan.Prompts = nil
			var plan bytes.Buffer
			require.NoError(t, json.Indent(&plan, []byte(mustJSON(t, p.Plan)), "", "  "))
			plan.WriteByte('\n')
			got.Files = append(got.Files, txtar.File{Name: "plan.json", Data: plan.Bytes()})
			got.Files = append(got.Files, txtar.File{Name: "summary.txt", Data: []byte(assembled(p, "ANSWER", "PREFIX ANSWER") + "\n")})

			if *update {
				require.NoError(t, os.WriteFile(file, txtar.Format(got), 0o644))
				return
			}
			require.Empty(t, cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))), "run with -update if the change is meant")
		})
	}
}

// named replaces prompts by their names.
func named(text string) string {
	p := prompts.All()
	return strings.NewReplacer(p.Initial, "[initial]", p.Update, "[update]", p.TurnPrefix, "[turn_prefix]", p.MidTurn, "[mid_turn]").Replace(text)
}
