package cli

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"recap/internal/client"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/store"
	"recap/workers"
)

// target is a session that a command works on. Driver is nil for one that was named by store and id:
// it may lie on another machine.
type target struct {
	ref    contract.SessionRef
	driver store.Driver
	path   string // given by the caller as a path, absolute; else ""
	// outside says that the path lies in no configured store.
	outside bool
}

// open resolves the caller's word for a session that must be readable from here.
func (a *app) open(cfg *config.Config, word string) (target, error) {
	t := target{path: pathOf(word)}
	var paths []string
	if t.path != "" {
		word = t.path
		paths = []string{t.path}
		if err := readable(t.path); err != nil {
			return t, err
		}
	}
	stores, err := workers.OpenStores(cfg, paths...)
	if err != nil {
		return t, err
	}
	t.ref, t.driver, err = stores.Resolve(word)
	if t.path == "" && store.KindOf(err) == store.KindNotFound {
		return t, &store.Error{Kind: store.KindNotFound, ID: word, Msg: "there is no such file here, and no such session in the stores " +
			strings.Join(slices.Sorted(maps.Keys(cfg.Stores)), ", ")}
	}
	_, configured := cfg.Stores[t.ref.Store]
	t.outside = !configured
	return t, err
}

// refer resolves the caller's word for a session that a worker reads: with a store named, it is taken
// as it is, because the store need not be on this machine.
func (a *app) refer(cfg *config.Config, storeName, word string) (target, error) {
	if storeName == "" {
		return a.open(cfg, word)
	}
	t := target{ref: contract.SessionRef{Tenant: cfg.Tenant, Store: storeName, ID: filepath.ToSlash(word)}}
	if err := t.ref.Validate(); err != nil {
		return t, &usageError{err: err}
	}
	return t, nil
}

// pathOf returns the absolute path a word names, "" when it reads as an id: paths start with a dot, a
// slash or ~, or name a file that is there.
func pathOf(word string) string {
	if rest, ok := strings.CutPrefix(word, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			word = filepath.Join(home, rest)
		}
	}
	explicit := filepath.IsAbs(word) || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
	if !explicit {
		if info, err := os.Stat(word); err != nil || info.IsDir() {
			return ""
		}
	}
	abs, err := filepath.Abs(word)
	if err != nil {
		return ""
	}
	return abs
}

// readable says in one line why a path cannot be a session, before any store is asked.
func readable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &store.Error{Kind: store.KindNotFound, ID: path, Msg: "there is no such file"}
	case err != nil:
		return &store.Error{Kind: store.KindUnreadable, ID: path, Msg: "cannot be read", Err: errors.Unwrap(err)}
	case info.IsDir():
		return &store.Error{Kind: store.KindNotSession, ID: path, Msg: "is a folder; name a session file in it"}
	}
	return nil
}

// name resolves the caller's word for an operation: its id, its workflow id, or a session.
func (a *app) operation(ctx context.Context, cfg *config.Config, ops *client.Client, word string) (client.Name, error) {
	n := client.ParseName(word)
	if n.WorkflowID != "" {
		return n, nil
	}
	if pathOf(word) == "" {
		_, err := ops.Find(ctx, n)
		if err == nil || client.KindOf(err) != client.KindNotFound {
			return n, err
		}
	}
	t, err := a.open(cfg, word)
	if store.KindOf(err) == store.KindNotFound {
		return n, &client.Error{
			Kind: client.KindNotFound, Verb: "find", On: word, Msg: "neither an operation the server remembers nor a session",
		}
	}
	return client.Name{Session: &t.ref}, err
}
