#!/usr/bin/env bash
# Starts the quick start: run.sh CADDY LEGACY READER, the three programs.
set -euo pipefail
caddy=$1 legacy=$2 reader=$3
cd "$(dirname "${BASH_SOURCE[0]}")"
export GATEHOUSE_STATE=${GATEHOUSE_STATE:-$PWD/state}
mkdir -p "$GATEHOUSE_STATE"
umask 077

# The secrets of the two clients that have one: made at the first start and kept.
env=$GATEHOUSE_STATE/env
if [ ! -f "$env" ]; then
	for name in READER_SECRET NIGHTLY_SECRET; do
		printf 'export %s=%s\n' "$name" "$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=')"
	done >"$env"
fi
. "$env"

for port in 8080 8081 8082 8083; do
	if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
		echo "run.sh: port $port is in use; the quick start needs 8080 to 8083 on localhost" >&2
		exit 1
	fi
done

"$legacy" -listen 127.0.0.1:8083 &
pids=($!)
trap 'kill "${pids[@]}" 2>/dev/null || true; wait' EXIT
trap 'exit 0' INT TERM
"$reader" -listen 127.0.0.1:8082 -self http://localhost:8082 -issuer http://localhost:8080 -api http://localhost:8081 &
pids+=($!)
"$caddy" run --config Caddyfile >"$GATEHOUSE_STATE/caddy.log" 2>&1 &
pids+=($!)

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
for url in http://localhost:8080/.well-known/oauth-authorization-server http://localhost:8081/health http://localhost:8082/; do
	if ! answers "$url"; then
		tail -5 "$GATEHOUSE_STATE/caddy.log" >&2
		echo "run.sh: $url does not answer" >&2
		exit 1
	fi
done

cat <<TXT

Gatehouse is running.

  Try it        http://localhost:8082   sign in as alice, password: correct horse battery staple
  Issuer        http://localhost:8080   http://localhost:8080/.well-known/oauth-authorization-server
  Your account  http://localhost:8080/account   what alice has allowed, and where she is signed in
  Guarded API   http://localhost:8081   curl -i http://localhost:8081/articles  answers 401
  Legacy API    http://127.0.0.1:8083   what is behind the gateway
  Metrics       http://localhost:2019/metrics

  By hand       examples/quickstart/README.md goes through it with curl
  Secrets       . $env
  Log           $GATEHOUSE_STATE/caddy.log

Stop with Ctrl-C.
TXT
while running; do
	sleep 0.5 & # a foreground sleep would hold back the signals
	wait $!
done
echo "run.sh: a program has ended, so the others are stopped; see $GATEHOUSE_STATE/caddy.log" >&2
exit 1
