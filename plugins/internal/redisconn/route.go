package redisconn

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// runner is a connection to a server, or a pool of them.
type runner interface {
	Do(ctx context.Context, args ...any) *goredis.Cmd
}

// notFollowed prevents an error from being read as a redirection.
type notFollowed struct{ error }

func (n notFollowed) Unwrap() error { return nil }

// runOnKeyNode calls call with a connection to the server that has key, and follows a cluster's
// redirections. go-redis would also repeat commands that timed out, which may run a script
// twice. sticky: the commands of call must use the same connection.
func runOnKeyNode(ctx context.Context, client goredis.UniversalClient, key string, call func(runner) error, sticky bool) error {
	nodes, ok := client.(*goredis.ClusterClient)
	if !ok {
		one, ok := client.(*goredis.Client)
		if !ok {
			return errors.New("redis: unknown kind of client")
		}
		return runOnNode(ctx, one, call, sticky, false)
	}
	node, err := nodes.MasterForKey(ctx, key)
	asking := false
	for hop := 1; err == nil; hop++ {
		err = runOnNode(ctx, node, call, sticky || asking, asking)
		if err == nil {
			return nil
		}
		if unavailable(err) { // so that the next call finds the new primary
			nodes.ReloadState(ctx)
		}
		moved, to := redirection(err)
		if !moved || hop == maxHops {
			return err
		}
		asking = goredis.HasErrorPrefix(err, "ASK")
		if next := nodeAt(ctx, nodes, to); next != nil {
			node, err = next, nil
			continue
		}
		asking = false
		if err = Sleep(ctx, hopWait<<hop); err == nil {
			node, err = nodes.MasterForKey(ctx, key)
		}
	}
	return err
}

func runOnNode(ctx context.Context, node *goredis.Client, call func(runner) error, sticky, asking bool) error {
	if !sticky {
		return call(node)
	}
	conn := node.Conn()
	defer func() { _ = conn.Close() }()
	if asking {
		return call(asker{conn})
	}
	return call(conn)
}

// asker sends ASKING in front of each command, because it is valid for one command only.
type asker struct{ conn *goredis.Conn }

func (a asker) Do(ctx context.Context, args ...any) *goredis.Cmd {
	if err := a.conn.Do(ctx, "ASKING").Err(); err != nil {
		failed := goredis.NewCmd(ctx, args...)
		failed.SetErr(err)
		return failed
	}
	return a.conn.Do(ctx, args...)
}

// redirection recognizes replies that say that the command was not run, and where it belongs.
// READONLY and TRYAGAIN name no address: the cluster is being changed.
func redirection(err error) (moved bool, to string) {
	for _, prefix := range []string{"MOVED", "ASK"} {
		if goredis.HasErrorPrefix(err, prefix) {
			reply, _ := errors.AsType[goredis.Error](err)
			fields := strings.Fields(reply.Error())
			if len(fields) == 3 {
				return true, fields[2]
			}
		}
	}
	return goredis.HasErrorPrefix(err, "TRYAGAIN") || goredis.HasErrorPrefix(err, "READONLY"), ""
}

// nodeAt returns the primary with this address, or nil if the cluster's state does not contain
// it yet.
func nodeAt(ctx context.Context, nodes *goredis.ClusterClient, address string) *goredis.Client {
	var mu sync.Mutex
	var found *goredis.Client
	_ = nodes.ForEachMaster(ctx, func(_ context.Context, node *goredis.Client) error {
		if node.Options().Addr == address {
			mu.Lock()
			defer mu.Unlock()
			found = node
		}
		return nil
	})
	return found
}

// Sleep waits for d, or until ctx ends, whose error it then returns.
func Sleep(ctx context.Context, d time.Duration) error {
	elapsed, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-elapsed.Done()
	return ctx.Err()
}
