package admin

import (
	"context"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// compactor is implemented by stores that can replace their file by a copy without free space. It returns the size of
// the data before and after, in bytes, or [store.ErrBusy]. Reads MUST continue meanwhile.
type compactor interface {
	Compact(ctx context.Context) (before, after int64, err error)
}

func compactStore(c *call) (any, error) {
	backend, err := c.OpenStore(c.r.Context())
	if err != nil {
		return nil, err
	}
	file, ok := backend.(compactor)
	if !ok {
		return nil, Refuse(http.StatusConflict, "conflict", "the store has no file to compact; `store bolt` has")
	}
	var sizes adminapi.Compacted
	sizes.Before, sizes.After, err = file.Compact(c.r.Context())
	return sizes, err
}
