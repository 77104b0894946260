#!/usr/bin/env bash
# Starts the cluster: run.sh CADDY LEGACY, the two programs. redis-server comes from PATH.
set -euo pipefail
caddy=$1 legacy=$2
cd "$(dirname "${BASH_SOURCE[0]}")"
export GATEHOUSE_STATE=${GATEHOUSE_STATE:-$PWD/state}
mkdir -p "$GATEHOUSE_STATE"
umask 077
command -v redis-server >/dev/null || {
	echo "run.sh: this example needs redis-server, in Debian the package of that name" >&2
	exit 1
}

# Secrets: made at the first start and kept.
env=$GATEHOUSE_STATE/env
if [ ! -f "$env" ]; then
	for name in GATEHOUSE_SECRET REDIS_PASSWORD NIGHTLY_SECRET; do
		printf 'export %s=%s\n' "$name" "$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=')"
	done >"$env"
fi
. "$env"

for port in 8080 8081 8083 8180 8181 8280 8281 8380 8381 2019 2119 2219 6380; do
	if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
		echo "run.sh: port $port is in use; README.md lists those that the cluster needs" >&2
		exit 1
	fi
done

# What was answered must not be forgotten, and nothing thrown away for want of room.
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

pids=()
trap 'kill "${pids[@]}" $(cat "$GATEHOUSE_STATE"/node?.pid 2>/dev/null) 2>/dev/null || true; wait; rm -f "$GATEHOUSE_STATE"/node?.pid' EXIT
trap 'exit 0' INT TERM
redis-server "$GATEHOUSE_STATE/redis.conf" >"$GATEHOUSE_STATE/redis.log" 2>&1 &
pids+=($!)
"$legacy" -listen 127.0.0.1:8083 >"$GATEHOUSE_STATE/legacy.log" 2>&1 &
pids+=($!)
for n in 1 2 3; do
	./node.sh "$caddy" "$n" &
done

# A node may end: that is what the others are for.
running() {
	local pid
	for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || return 1; done
}
answers() {
	for _ in $(seq 100); do
		curl -sf -m 5 -o /dev/null "$1" && return
		running || return 1
		sleep 0.1
	done
	return 1
}
ready() {
	answers "http://localhost:$1/ready" && return
	tail -n 3 "$GATEHOUSE_STATE"/*.log >&2
	echo "run.sh: http://localhost:$1/ready does not answer" >&2
	exit 1
}
for port in 8180 8280 8380; do ready "$port"; done
"$caddy" run --config balancer.Caddyfile >"$GATEHOUSE_STATE/balancer.log" 2>&1 &
pids+=($!)
ready 8080

cat <<TXT

Three nodes are running.

  Issuer        http://localhost:8080   http://localhost:8080/.well-known/oauth-authorization-server
  Guarded API   http://localhost:8081   curl -i http://localhost:8081/articles  answers 401
  The nodes     http://localhost:8180/ready  http://localhost:8280/ready  http://localhost:8380/ready
  Metrics       http://localhost:2019/metrics  http://localhost:2119/metrics  http://localhost:2219/metrics
  Redis         127.0.0.1:6380

  By hand       examples/cluster/README.md goes through it with curl, and kills a node
  Secrets       . $env
  Logs          $GATEHOUSE_STATE/*.log

Stop with Ctrl-C.
TXT
while running; do
	sleep 0.5 & # a foreground sleep would hold back the signals
	wait $!
done
echo "run.sh: a program has ended, so the others are stopped; see $GATEHOUSE_STATE" >&2
exit 1
