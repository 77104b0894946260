package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

// nearlyFull is the share of maxmemory above which an operator is told, in percent.
const nearlyFull = 90

// Examine tells the doctor what of the servers loses records, and what might, each with its remedy.
func (b *Backend) Examine(ctx context.Context) (wrong, risky map[string]string, err error) {
	texts, err := redisconn.Info(ctx, b.client, "server", "memory", "persistence", "replication", "stats")
	if err != nil {
		return nil, nil, b.settings.Clean(err)
	}
	wrong, risky = make(map[string]string), make(map[string]string)
	for _, text := range texts {
		examineMemory(text, wrong, risky)
		examineCopies(text, b.wait.Replicas, wrong, risky)
		if version, old := oldVersion(text); old {
			wrong[fmt.Sprintf("the server is Redis %s", version)] = fmt.Sprintf("use Redis %d or newer, or Valkey", leastVersion)
		}
	}
	return wrong, risky, nil
}

// examineMemory looks for a server that forgets, or soon refuses to write.
func examineMemory(info string, wrong, risky map[string]string) {
	if policy, ok := evictionPolicy(info); ok {
		wrong[fmt.Sprintf("maxmemory-policy is %s: when its memory is full Redis forgets revocations, sessions and used codes", policy)] =
			"set `maxmemory-policy noeviction`, and give other uses of it a Redis of their own"
	}
	if n := numberField(info, "evicted_keys"); n > 0 {
		wrong[fmt.Sprintf("Redis has evicted %d keys since it started: what was revoked may be valid again", n)] =
			"set `maxmemory-policy noeviction`; if tokens were revoked within the life of an access token, revoke them again"
	}
	if used, limit := numberField(info, "used_memory"), numberField(info, "maxmemory"); limit > 0 && used/(limit/100+1) >= nearlyFull {
		risky[fmt.Sprintf("Redis uses %d of %d bytes it may use", used, limit)] =
			"raise `maxmemory`: when it is full nothing can be issued or revoked"
	}
}

// examineCopies looks at what is left when the server ends.
func examineCopies(info string, replicas int, wrong, risky map[string]string) {
	if redisconn.Field(info, "role") == "slave" {
		wrong["the server is a replica, which takes no writes"] = "name the primary, or the Sentinels that know it, in the global option `store`"
		return
	}
	switch connected := numberField(info, "connected_slaves"); {
	case connected < int64(replicas):
		wrong[fmt.Sprintf("%d replicas are connected and each write waits for %d: writes are refused with 503", connected, replicas)] =
			"bring the replicas back, or lower `replicas` and know what a failover then forgets"
	case connected > 0 && replicas == 0:
		risky[fmt.Sprintf("Redis has %d replicas and no write waits for any: a failover forgets the last writes, so that a used code could be used again", connected)] =
			"write `replicas 1` into the block of `store redis`"
	}
	if redisconn.Field(info, "aof_enabled") == "0" {
		risky["appendonly is off: when Redis ends without a replica to take over, what came after its last snapshot is lost, revocations too"] =
			"set `appendonly yes`"
	}
}

// numberField is 0 for a field that is absent or none.
func numberField(info, name string) int64 {
	n, _ := strconv.ParseInt(redisconn.Field(info, name), 10, 64)
	return n
}

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
		if redisconn.Sleep(ctx, inspectPause) != nil {
			return
		}
	}
}

func (b *Backend) warnOf(servers []string) {
	for _, text := range servers {
		if policy, ok := evictionPolicy(text); ok {
			b.log.Warn("this Redis forgets keys when its memory is full, revocations, sessions and used codes among them; the store needs maxmemory-policy noeviction",
				zap.String("maxmemory_policy", policy))
			break
		}
	}
	for _, text := range servers {
		if version, ok := oldVersion(text); ok {
			b.log.Warn("this Redis is older than the store needs", zap.String("version", version), zap.Int("needed", leastVersion))
			break
		}
	}
}

// evictionPolicy returns the policy of a server that evicts keys.
func evictionPolicy(info string) (policy string, evicts bool) {
	policy = redisconn.Field(info, "maxmemory_policy")
	return policy, policy != "" && policy != "noeviction"
}

// oldVersion returns the version of a server; Valkey calls itself 7.2 here.
func oldVersion(info string) (version string, old bool) {
	version = redisconn.Field(info, "redis_version")
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return version, err == nil && n < leastVersion
}
