package telemetry

import (
	"runtime/debug"
	"sync"
)

// version and revision may be set when linking: -X recap/internal/telemetry.version=v1.2.3.
var version, revision string

// Build is what this program was built from.
type Build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Modified bool   `json:"modified"` // built from a tree with changes that were not committed
}

// BuildInfo reads what the linker and the Go toolchain wrote into the program.
var BuildInfo = sync.OnceValue(func() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return describe(version, revision, info)
})

func describe(version, revision string, info *debug.BuildInfo) Build {
	b := Build{Version: version, Revision: revision, Go: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			if b.Revision == "" {
				b.Revision = s.Value
			}
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "devel"
	}
	if b.Revision == "" {
		b.Revision = "unknown"
	}
	return b
}

// Version is the version of this program, "devel" when it is not a release.
func Version() string { return BuildInfo().Version }

// Revision is the commit this program was built from, "unknown" when the build did not say.
func Revision() string { return BuildInfo().Revision }
