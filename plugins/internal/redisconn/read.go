package redisconn

import (
	"context"
	"errors"
	"fmt"

	goredis "github.com/redis/go-redis/v9"
)

// Do runs one command on the server that has key, at most once. A nil reply is not an error.
func Do(ctx context.Context, client goredis.UniversalClient, key string, args ...any) (any, error) {
	var reply any
	err := runOnKeyNode(ctx, client, key, func(conn runner) error {
		var err error
		reply, err = conn.Do(ctx, args...).Result()
		return err
	}, false)
	if errors.Is(err, goredis.Nil) {
		return nil, nil
	}
	return reply, err
}

// Values reads keys from whichever servers have them. A value is nil if the key is absent, and
// otherwise a string.
func Values(ctx context.Context, client goredis.UniversalClient, keys []string) ([]any, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	nodes, ok := client.(*goredis.ClusterClient)
	if !ok {
		args := make([]any, 1, 1+len(keys))
		args[0] = "MGET"
		for _, k := range keys {
			args = append(args, k)
		}
		reply, err := Do(ctx, client, keys[0], args...)
		if err != nil {
			return nil, err
		}
		values, ok := reply.([]any)
		if !ok || len(values) != len(keys) {
			return nil, fmt.Errorf("redis: MGET of %d keys returned %T", len(keys), reply)
		}
		return values, nil
	}
	places := make(map[*goredis.Client][]int)
	for i, k := range keys {
		node, err := nodes.MasterForKey(ctx, k)
		if err != nil {
			return nil, err
		}
		places[node] = append(places[node], i)
	}
	values := make([]any, len(keys))
	for node, indexes := range places {
		commands, _ := node.Pipelined(ctx, func(p goredis.Pipeliner) error { // each command has its own error
			for _, i := range indexes {
				p.Get(ctx, keys[i])
			}
			return nil
		})
		if len(commands) != len(indexes) {
			return nil, errors.New("redis: a pipeline returned too few replies")
		}
		for n, i := range indexes {
			switch text, err := commands[n].(*goredis.StringCmd).Result(); {
			case err == nil:
				values[i] = text
			case errors.Is(err, goredis.Nil):
			default:
				if moved, _ := redirection(err); !moved {
					if unavailable(err) {
						nodes.ReloadState(ctx)
					}
					return nil, err
				}
				if values[i], err = Do(ctx, client, keys[i], "GET", keys[i]); err != nil {
					return nil, err
				}
			}
		}
	}
	return values, nil
}
