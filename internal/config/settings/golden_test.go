package settings_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/config/settings"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGoldenFiles reads a settings file of each agent, and leaves it as it was.
func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pi.json", "oh-my-pi.yml", "veyyon.yml"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, err := os.ReadFile(filepath.Join("testdata", name))
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, before, 0o600))
			got, err := settings.Read(path)
			require.NoError(t, err)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after), "a source is never rewritten")

			text, err := json.MarshalIndent(got, "", "  ")
			require.NoError(t, err)
			text = append(bytes.ReplaceAll(text, []byte(path), []byte(name)), '\n')
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(golden, text, 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(text))
		})
	}
}
