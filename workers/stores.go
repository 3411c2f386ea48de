package workers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"recap/internal/blob"
	blobfile "recap/internal/blob/file"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/store"
	"recap/internal/store/jsonl"
)

// Stores are the session stores of a configuration, by name, and those of sessions that were named
// by path outside of them. Safe for concurrent use.
type Stores struct {
	tenant string

	mu      sync.Mutex // a session named by path may add a store
	drivers map[string]store.Driver
	roots   map[string]string // store name → canonical root
}

// OpenStores opens every configured store, and one store for the folder of each given path. A
// configured store whose root does not exist is opened all the same: sessions may appear later.
func OpenStores(c *config.Config, paths ...string) (*Stores, error) {
	s := &Stores{tenant: c.Tenant, drivers: map[string]store.Driver{}, roots: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(c.Stores)) {
		if err := s.open(name, c.Stores[name].Root); err != nil {
			return nil, err
		}
	}
	for _, path := range paths {
		if _, _, err := s.Resolve(path); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Stores) open(name, root string) error {
	driver, err := jsonl.New(root)
	if err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drivers[name], s.roots[name] = driver, canonical(root)
	return nil
}

// canonical resolves links where the path exists.
func canonical(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// Names lists the stores in name order.
func (s *Stores) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.drivers))
}

// UnknownStoreError names a store that is not configured here.
type UnknownStoreError struct{ Name string }

func (e *UnknownStoreError) Error() string {
	return fmt.Sprintf("store %s is not configured on this worker; name it under stores in recap.yaml", e.Name)
}

// Driver returns the driver of a store.
func (s *Stores) Driver(name string) (store.Driver, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := s.drivers[name]; ok {
		return d, nil
	}
	return nil, &UnknownStoreError{Name: name}
}

// pathStorePrefix marks the stores of folders that belong to no configured store.
const pathStorePrefix = "path-"

// Resolve finds the session a person names: by its path, or by its id in a configured store. A path
// inside a configured store's root is that store's session; any other gets a store of its folder's
// own, whose name is derived from the folder.
func (s *Stores) Resolve(name string) (contract.SessionRef, store.Driver, error) {
	if isPath(name) {
		return s.resolvePath(name)
	}
	var missing error
	for _, storeName := range s.Names() {
		if strings.HasPrefix(storeName, pathStorePrefix) {
			continue
		}
		ref, driver, err := s.in(storeName, name)
		if err == nil {
			return ref, driver, nil
		}
		if store.KindOf(err) != store.KindNotFound {
			return contract.SessionRef{}, nil, err
		}
		missing = err
	}
	if missing == nil {
		missing = &store.Error{Kind: store.KindNotFound, ID: name, Msg: "no store is configured to look in"}
	}
	return contract.SessionRef{}, nil, missing
}

// isPath reports whether a name is meant as a path: it says so, or such a file exists. Anything else
// is an id, which may hold separators too.
func isPath(name string) bool {
	if filepath.IsAbs(name) || strings.HasPrefix(name, ".") {
		return true
	}
	_, err := os.Lstat(name)
	return err == nil
}

func (s *Stores) resolvePath(path string) (contract.SessionRef, store.Driver, error) {
	abs := canonical(path)
	if _, err := os.Lstat(abs); errors.Is(err, os.ErrNotExist) {
		return contract.SessionRef{}, nil, &store.Error{Kind: store.KindNotFound, ID: path, Msg: "no such file; name a session by path, or by its id in a configured store"}
	}
	for _, name := range s.Names() {
		if rel, err := filepath.Rel(s.root(name), abs); err == nil && filepath.IsLocal(rel) {
			return s.in(name, abs)
		}
	}
	folder := filepath.Dir(abs)
	sum := sha256.Sum256([]byte(folder))
	name := pathStorePrefix + hex.EncodeToString(sum[:6])
	if err := s.open(name, folder); err != nil {
		return contract.SessionRef{}, nil, err
	}
	return s.in(name, abs)
}

// root is the canonical root of a store.
func (s *Stores) root(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.roots[name]
}

// in finds a session in one store, by id or by path.
func (s *Stores) in(name, session string) (contract.SessionRef, store.Driver, error) {
	driver, err := s.Driver(name)
	if err != nil {
		return contract.SessionRef{}, nil, err
	}
	id, err := driver.Canonical(context.Background(), session)
	if err != nil {
		return contract.SessionRef{}, nil, err
	}
	return contract.SessionRef{Tenant: s.tenant, Store: name, ID: id}, driver, nil
}

// OpenBlobs opens the configured blob store.
func OpenBlobs(c *config.Config) (blob.Driver, error) {
	root := c.Blob.Root
	if root == "" {
		root = filepath.Join(c.DataDir, "blobs")
	}
	driver, err := blobfile.Open(root)
	if err != nil {
		return nil, fmt.Errorf("blob store %s: %w", root, err)
	}
	return driver, nil
}
