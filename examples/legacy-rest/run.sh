#!/usr/bin/env bash
# Starts the example for REST conventions: run.sh CADDY LEGACY, the two programs.
set -euo pipefail
caddy=$1 legacy=$2
cd "$(dirname "${BASH_SOURCE[0]}")"
export GATEHOUSE_STATE=${GATEHOUSE_STATE:-$PWD/state}
mkdir -p "$GATEHOUSE_STATE/trusted"
umask 077

# The secrets of the three clients that have one: made at the first start and kept.
env=$GATEHOUSE_STATE/env
if [ ! -f "$env" ]; then
	for name in EDITOR_SECRET NIGHTLY_SECRET READER_SECRET; do
		printf 'export %s=%s\n' "$name" "$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=')"
	done >"$env"
fi
. "$env"

# The certificate of the files that are imported, which only these programs trust: Go
# reads this folder besides the certificates of the system.
if [ ! -f "$GATEHOUSE_STATE/trusted/files.crt" ]; then
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj /CN=localhost \
		-addext subjectAltName=DNS:localhost -keyout "$GATEHOUSE_STATE/files.key" -out "$GATEHOUSE_STATE/trusted/files.crt" 2>/dev/null
fi
export SSL_CERT_DIR=$GATEHOUSE_STATE/trusted

for port in 8080 8081 8082 8083; do
	if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
		echo "run.sh: port $port is in use; this example needs 8080 to 8083 on localhost" >&2
		exit 1
	fi
done

"$legacy" -listen 127.0.0.1:8083 -import 2s &
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
for url in http://localhost:8080/.well-known/oauth-authorization-server http://localhost:8081/health http://127.0.0.1:8083/health; do
	if ! answers "$url"; then
		tail -5 "$GATEHOUSE_STATE/caddy.log" >&2
		echo "run.sh: $url does not answer" >&2
		exit 1
	fi
done

cat <<TXT

The API has conventions.

  What there is   curl 'http://127.0.0.1:8083/api.php?mod=article&act=get&aid=7'   fails with status 200
  Before it       curl http://localhost:8081/articles   401, since nobody reads without a token
  A token         . $env
                  curl http://localhost:8080/token -u "editor:\$EDITOR_SECRET" -d grant_type=client_credentials
  By hand         examples/legacy-rest/README.md goes through it with curl
  How             examples/legacy-rest/Caddyfile is all of it
  Log             $GATEHOUSE_STATE/caddy.log

Stop with Ctrl-C.
TXT
while running; do
	sleep 0.5 & # a foreground sleep would hold back the signals
	wait $!
done
echo "run.sh: a program has ended, so the others are stopped; see $GATEHOUSE_STATE/caddy.log" >&2
exit 1
