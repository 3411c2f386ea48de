package telemetry

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLogger makes a logger that writes to w in the given format (text or json) from the given level
// (debug, info, warn, error) on.
func NewLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q is unknown (debug, info, warn, error)", level)
	}
	opts := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, fmt.Errorf("log format %q is unknown (text, json)", format)
}
