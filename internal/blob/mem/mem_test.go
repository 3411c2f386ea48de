package mem

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/blob"
	"recap/internal/blob/blobtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blobtest.Fixture {
		s := New()
		return blobtest.Fixture{
			Driver: s,
			Damage: func(t *testing.T, d blob.Digest, how blobtest.Damage) {
				it := s.blobs[d]
				require.NotNil(t, it)
				it.data = how(it.data)
			},
		}
	})
}
