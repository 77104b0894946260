#!/usr/bin/env bash
# Starts the example for Variant B: run.sh CADDY PORTAL, the two programs.
set -euo pipefail
caddy=$1 portal=$2
cd "$(dirname "${BASH_SOURCE[0]}")"
export GATEHOUSE_STATE=${GATEHOUSE_STATE:-$PWD/state}
mkdir -p "$GATEHOUSE_STATE"
umask 077

# The site's secret: made at the first start and kept.
env=$GATEHOUSE_STATE/env
[ -f "$env" ] || printf 'export PORTAL_SECRET=%s\n' "$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=')" >"$env"
. "$env"

for port in 8080 8082; do
	if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
		echo "run.sh: port $port is in use; this example needs 8080 and 8082 on localhost" >&2
		exit 1
	fi
done

"$portal" -listen 127.0.0.1:8082 -self http://localhost:8082 -open http://localhost:8080 -api http://localhost:8080 &
pids=($!)
trap 'kill "${pids[@]}" 2>/dev/null || true; wait' EXIT
trap 'exit 0' INT TERM
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
for url in http://localhost:8080/.well-known/oauth-authorization-server http://localhost:8082/; do
	if ! answers "$url"; then
		tail -5 "$GATEHOUSE_STATE/caddy.log" >&2
		echo "run.sh: $url does not answer" >&2
		exit 1
	fi
done

cat <<TXT

The teahouse is open.

  Try it     http://localhost:8082   press "Sign in with your phone": a code to scan, a number and a short code appear
             A phone cannot reach this machine's localhost, so a private window or a second browser plays it: there
             open http://localhost:8080/device, sign in as alice, password: correct horse battery staple,
             type the short code, then the number, and confirm.
             The first window is signed in at once, and shows Alice with her picture.
  By hand    examples/variant-b/README.md goes through it with curl, and through a device that has no browser
  Metrics    http://localhost:2019/metrics
  Secret     . $env
  Log        $GATEHOUSE_STATE/caddy.log

Stop with Ctrl-C.
TXT
while running; do
	sleep 0.5 & # a foreground sleep would hold back the signals
	wait $!
done
echo "run.sh: a program has ended, so the others are stopped; see $GATEHOUSE_STATE/caddy.log" >&2
exit 1
