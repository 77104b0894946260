package redis

import (
	"context"
	"fmt"

	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

// Examine reports to `caddy gatehouse doctor` what makes the servers lose counts. Lost counts
// admit requests that a limit would have refused.
func (s *Source) Examine(ctx context.Context) (wrong, risky map[string]string, err error) {
	texts, err := redisconn.Info(ctx, s.conn.client, "memory", "replication")
	if err != nil {
		return nil, nil, s.settings.Clean(err)
	}
	wrong, risky = make(map[string]string), make(map[string]string)
	for _, text := range texts {
		if policy := redisconn.Field(text, "maxmemory_policy"); policy != "" && policy != "noeviction" {
			risky[fmt.Sprintf("maxmemory-policy is %s: when its memory is full Redis forgets counts, and callers get more than their limit", policy)] =
				"set `maxmemory-policy noeviction`: then a full Redis is an outage, for which there is `on_outage`"
		}
		if redisconn.Field(text, "role") == "slave" {
			wrong["the server is a replica, which takes no writes: all requests are decided as in an outage"] =
				"name the primary, or the Sentinels that know it, in the global option `limiter`"
		}
	}
	return wrong, risky, nil
}
