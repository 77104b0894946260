package redisconn

import (
	"context"
	"strings"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// Info returns the output of INFO from each server that accepts writes: one text, or those of
// all primaries of a cluster.
func Info(ctx context.Context, client goredis.UniversalClient, sections ...string) (texts []string, err error) {
	nodes, ok := client.(*goredis.ClusterClient)
	if !ok {
		text, err := client.Info(ctx, sections...).Result()
		return []string{text}, err
	}
	var mu sync.Mutex
	err = nodes.ForEachMaster(ctx, func(ctx context.Context, node *goredis.Client) error {
		text, err := node.Info(ctx, sections...).Result()
		mu.Lock()
		defer mu.Unlock()
		texts = append(texts, text)
		return err
	})
	return texts, err
}

// Field returns the value of a line of INFO, or "" if there is no such line.
func Field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return value
		}
	}
	return ""
}
