package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"recap/internal/blob"
	"recap/internal/compaction"
	"recap/internal/contract"
)

// putJSON stores a value as a JSON blob.
func (a *Activities) putJSON(ctx context.Context, what string, v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", what, err)
	}
	d, err := a.Blobs.Put(ctx, data)
	if err != nil {
		return "", fmt.Errorf("store %s: %w", what, err)
	}
	return string(d), nil
}

// getJSON reads a JSON blob. found is false when the blob is gone: then the plan must be made again.
func (a *Activities) getJSON(ctx context.Context, what, digest string, v any) (found bool, err error) {
	data, err := a.Blobs.Get(ctx, blob.Digest(digest))
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s %.12s: %w", what, digest, err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("decode %s %.12s: %w", what, digest, err)
	}
	return true, nil
}

// storeArtifacts keeps the originals of what the plan would rewrite, under the ids its markers name.
func (a *Activities) storeArtifacts(ctx context.Context, list []compaction.Artifact) error {
	for _, artifact := range list {
		digest, err := a.Blobs.Put(ctx, []byte(artifact.Document))
		if err != nil {
			return fmt.Errorf("store artifact %s: %w", artifact.ID, err)
		}
		if err := a.Blobs.Relink(ctx, contract.ArtifactBlob(artifact.ID), digest); err != nil {
			return fmt.Errorf("name artifact %s: %w", artifact.ID, err)
		}
	}
	return nil
}
