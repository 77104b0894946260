package redisconn

import (
	"context"
	"crypto/sha1" //nolint:gosec // the name by which Redis knows a script
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// Script is a Lua script. All its keys must be in one slot.
type Script struct{ source, sha string }

// NewScript returns a script.
func NewScript(source string) *Script {
	sum := sha1.Sum([]byte(source)) //nolint:gosec // as above
	return &Script{source, hex.EncodeToString(sum[:])}
}

// Wait is a write concern: how many replicas must have a write before it counts.
type Wait struct {
	Replicas int
	Timeout  time.Duration // how long the replicas may take; required with Replicas
}

// ErrReplicas: the write took effect on the primary, but too few replicas have it, so a failover
// may undo it.
var ErrReplicas = errors.New("redis: too few replicas have confirmed the write")

// maxHops bounds the number of redirections of one call.
const maxHops = 4

// hopWait is how long to wait for a cluster that says that it is moving slots.
const hopWait = 10 * time.Millisecond

// Run runs the script at most once, on the server that has its keys. After an error it is not
// known whether the script ran, unless [Unapplied] says so.
func (s *Script) Run(ctx context.Context, client goredis.UniversalClient, keys []string, args ...any) (any, error) {
	return s.RunAndWait(ctx, client, Wait{}, keys, args...)
}

// RunAndWait is Run with a write concern for what the script wrote.
func (s *Script) RunAndWait(ctx context.Context, client goredis.UniversalClient, w Wait, keys []string, args ...any) (any, error) {
	if len(keys) == 0 {
		return nil, errors.New("redis: a script needs a key, which determines where it runs")
	}
	var reply any
	err := runOnKeyNode(ctx, client, keys[0], func(conn runner) error {
		var err error
		if reply, err = s.runOnce(ctx, conn, keys, args); err != nil || w.Replicas == 0 {
			return err
		}
		// On the same connection, because WAIT refers to the connection's own writes.
		n, err := conn.Do(ctx, "WAIT", w.Replicas, max(1, w.Timeout.Milliseconds())).Int64()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrReplicas, notFollowed{err})
		}
		if n < int64(w.Replicas) {
			return fmt.Errorf("%w: %d of %d within %v", ErrReplicas, n, w.Replicas, w.Timeout)
		}
		return nil
	}, w.Replicas > 0)
	return reply, err
}

func (s *Script) runOnce(ctx context.Context, conn runner, keys []string, args []any) (any, error) {
	full := make([]any, 0, 3+len(keys)+len(args))
	full = append(full, "EVALSHA", s.sha, len(keys))
	for _, k := range keys {
		full = append(full, k)
	}
	full = append(full, args...)
	reply, err := conn.Do(ctx, full...).Result()
	if goredis.HasErrorPrefix(err, "NOSCRIPT") { // it did not run
		full[0], full[1] = "EVAL", s.source
		reply, err = conn.Do(ctx, full...).Result()
	}
	if errors.Is(err, goredis.Nil) {
		return nil, nil
	}
	return reply, err
}
