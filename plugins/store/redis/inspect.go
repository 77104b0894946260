package redis

import (
	"context"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

const (
	inspectPause    = 5 * time.Second
	inspectPatience = 2 * time.Second
	leastVersion    = 7
)

// inspectServers warns of what the store cannot work with, once Redis can be asked.
func (b *Backend) inspectServers(ctx context.Context) {
	for {
		asking, cancel := context.WithTimeout(ctx, inspectPatience)
		info, err := redisconn.Info(asking, b.client, "server", "memory")
		cancel()
		if err == nil {
			b.warnOf(info)
			return
		}
		if goredis.HasErrorPrefix(err, "NOPERM") {
			return // it may not be asked
		}
		if sleepFor(ctx, inspectPause) != nil {
			return
		}
	}
}

func (b *Backend) warnOf(all []string) {
	for _, text := range all {
		if policy := redisconn.Field(text, "maxmemory_policy"); policy != "" && policy != "noeviction" {
			b.log.Warn("this Redis forgets keys when its memory is full, revocations, sessions and used codes among them; the store needs maxmemory-policy noeviction",
				zap.String("maxmemory_policy", policy))
			break
		}
	}
	for _, text := range all {
		version := redisconn.Field(text, "redis_version") // Valkey says 7.2 here
		major, _, _ := strings.Cut(version, ".")
		if n, err := strconv.Atoi(major); err == nil && n < leastVersion {
			b.log.Warn("this Redis is older than the store needs", zap.String("version", version), zap.Int("needed", leastVersion))
			break
		}
	}
}
