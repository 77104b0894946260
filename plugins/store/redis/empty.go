package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/module/store"
)

var _ store.EmptyChecker = (*Backend)(nil)

// scanCount is how many keys of the server one SCAN looks at.
const scanCount = 1000

// globbed escapes what a pattern of Redis would not take literally.
var globbed = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `^`, `\^`)

var errFound = errors.New("store redis: a key was found")

// Empty implements store.EmptyChecker. It looks at the names of all keys of the servers, whosever they are, until it finds
// one of ours. Counters of a limiter with the same prefix are none.
func (b *Backend) Empty(ctx context.Context) (bool, error) {
	if err := b.refuseReason(ctx); err != nil {
		return false, err
	}
	var err error
	if nodes, ok := b.client.(*goredis.ClusterClient); ok {
		err = nodes.ForEachMaster(ctx, func(ctx context.Context, node *goredis.Client) error { return b.findKeys(ctx, node) })
	} else {
		err = b.findKeys(ctx, b.client)
	}
	if errors.Is(err, errFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store redis: %w", b.settings.Clean(err))
	}
	return true, nil
}

// findKeys returns errFound if a server has a record, an index or a feed of this store.
func (b *Backend) findKeys(ctx context.Context, node goredis.Cmdable) error {
	for cursor := uint64(0); ; {
		keys, next, err := node.Scan(ctx, cursor, globbed.Replace(b.prefix)+"*", scanCount).Result()
		if err != nil {
			return err
		}
		for _, key := range keys {
			rest := strings.TrimPrefix(key, b.prefix)
			for _, ours := range []string{"r:", "{w:", "{p:"} {
				if strings.HasPrefix(rest, ours) {
					return errFound
				}
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}
