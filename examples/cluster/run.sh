#!/usr/bin/env bash
# Starts the cluster: run.sh CADDY LEGACY, the two programs. redis-server comes from PATH.
. "$(dirname "${BASH_SOURCE[0]}")/../programs.sh"
caddy=$1 legacy=$2
needs curl redis-server
ports 8080 8081 8083 8180 8181 8280 8281 8380 8381 2019 2119 2219 6380 8190 8290 8390
secrets GATEHOUSE_SECRET REDIS_PASSWORD NIGHTLY_SECRET

# Acknowledged writes must survive a restart, and nothing may be evicted when memory is full.
cat >"$GATEHOUSE_STATE/redis.conf" <<TXT
bind 127.0.0.1
port 6380
dir $GATEHOUSE_STATE
requirepass $REDIS_PASSWORD
appendonly yes
save ""
maxmemory 256mb
maxmemory-policy noeviction
TXT

start redis redis-server "$GATEHOUSE_STATE/redis.conf"
start legacy "$legacy" -listen 127.0.0.1:8083
# A node may end without ending the example. Restarting it by hand creates another process, so
# the pid files say what to stop.
trap 'end $(cat "$GATEHOUSE_STATE"/node?.pid 2>/dev/null); rm -f "$GATEHOUSE_STATE"/node?.pid' EXIT
for n in 1 2 3; do
	./node.sh "$caddy" "$n" &
done
ready http://localhost:8180/ready http://localhost:8280/ready http://localhost:8380/ready
start balancer "$caddy" run --config balancer.Caddyfile
ready http://localhost:8080/ready

stay <<TXT

Three nodes are running.

  Issuer        http://localhost:8080   http://localhost:8080/.well-known/oauth-authorization-server
  Guarded API   http://localhost:8081   curl -i http://localhost:8081/articles  returns 401
  The nodes     http://localhost:8180/ready  http://localhost:8280/ready  http://localhost:8380/ready
  Metrics       http://localhost:8190/metrics  http://localhost:8290/metrics  http://localhost:8390/metrics
  Redis         127.0.0.1:6380

  Tutorial      examples/cluster/README.md walks through it with curl, and kills a node
  Secrets       . $env
  Logs          $GATEHOUSE_STATE/*.log

Stop with Ctrl-C.
TXT
