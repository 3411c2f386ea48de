package housetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/config"
	"recap/internal/testkit/repo"
)

var update = flag.Bool("update", false, "write the generated parts of the documents")

// TestConfigurationReference compares docs/configuration.md with the configuration's own types: every
// key is there, with its default, its variable and what it means.
func TestConfigurationReference(t *testing.T) {
	t.Parallel()
	generated(t, "docs/configuration.md", map[string]string{
		"keys":   keyTable(t),
		"models": fieldTable(t, reflect.TypeFor[config.Model](), ""),
		"stores": fieldTable(t, reflect.TypeFor[config.Store](), ""),
	})
}

// TestMetricsReference compares docs/operations.md with the metrics a worker registers.
func TestMetricsReference(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("\n| metric | type | labels | means |\n|---|---|---|---|\n")
	for _, m := range served(t) {
		if !strings.HasPrefix(m.name, "recap_") {
			continue
		}
		labels := ""
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.name, m.kind, labels, m.help)
	}
	b.WriteString("\n")
	generated(t, "docs/operations.md", map[string]string{"metrics": b.String()})
}

// generated compares the marked parts of a document with what they should be, or writes them.
func generated(t *testing.T, name string, parts map[string]string) {
	t.Helper()
	text := repo.Read(t, name)
	want := text
	for part, table := range parts {
		block := regexp.MustCompile(`(?s)<!-- ` + part + ` -->\n.*<!-- /` + part + ` -->`)
		require.Regexp(t, block, want)
		want = block.ReplaceAllLiteralString(want, "<!-- "+part+" -->\n"+table+"<!-- /"+part+" -->")
	}
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(repo.Root(t), name), []byte(want), 0o644))
		return
	}
	require.Equal(t, want, text, "the document is behind the code: go test ./internal/testkit/housetest -run Reference -update")
}

// keyTable lists the keys that one value can set.
func keyTable(t *testing.T) string {
	t.Helper()
	defaults := map[string]string{}
	for _, s := range config.Default().Effective() {
		defaults[s.Key] = s.Value
	}
	docs := map[string]string{}
	for _, k := range config.Reference() {
		docs[k.Path] = k.Doc
	}
	var b strings.Builder
	b.WriteString("\n| key | default | variable | means |\n|---|---|---|---|\n")
	var walk func(typ reflect.Type, prefix string)
	walk = func(typ reflect.Type, prefix string) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			key := f.Tag.Get("yaml")
			switch {
			case key == "":
			case f.Type.Kind() == reflect.Struct:
				walk(f.Type, prefix+key+".")
			case f.Type.Kind() == reflect.Map || f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			default:
				require.NotEmpty(t, docs[prefix+key], "%s%s is not described", prefix, key)
				def := defaults[prefix+key]
				if def != "" {
					def = "`" + def + "`"
				}
				names := "`" + config.EnvName(prefix+key) + "`"
				if env := f.Tag.Get("env"); env != "" {
					names = "`" + env + "`, " + names
				}
				if f.Tag.Get("secret") != "" {
					names += " (or `_FILE`)"
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", prefix+key, def, names, docs[prefix+key])
			}
		}
	}
	walk(reflect.TypeFor[config.Config](), "")
	b.WriteString("\n")
	return b.String()
}

// fieldTable lists the keys of one element of a list or map.
func fieldTable(t *testing.T, typ reflect.Type, prefix string) string {
	t.Helper()
	var b strings.Builder
	if prefix == "" {
		b.WriteString("\n| key | means |\n|---|---|\n")
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		key := f.Tag.Get("yaml")
		if f.Type.Kind() == reflect.Struct {
			b.WriteString(fieldTable(t, f.Type, prefix+key+"."))
			continue
		}
		require.NotEmpty(t, f.Tag.Get("doc"), "%s%s has no doc tag", prefix, key)
		fmt.Fprintf(&b, "| `%s` | %s |\n", prefix+key, f.Tag.Get("doc"))
	}
	if prefix == "" {
		b.WriteString("\n")
	}
	return b.String()
}

// TestSampleConfigurationsLoad loads every configuration file that the repository ships.
func TestSampleConfigurationsLoad(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"examples/recap.yaml", "deploy/recap.yaml"} {
		cfg, err := config.Load(config.Sources{
			File:      filepath.Join(repo.Root(t), name),
			LookupEnv: func(string) (string, bool) { return "", false },
			Home:      "/nowhere",
		})
		require.NoError(t, err, name)
		require.NotEmpty(t, cfg.Compaction.Model, name)
		require.NotContains(t, repo.Read(t, name), "apiKey: ", "%s holds a key", name)
	}
}
