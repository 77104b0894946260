# What the run.sh of the examples share: their programs begin together and end together.
# Each sources it and then is in its own folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[1]}")"
umask 077
export GATEHOUSE_STATE=${GATEHOUSE_STATE:-$PWD/state}
mkdir -p "$GATEHOUSE_STATE"
env=$GATEHOUSE_STATE/env pids=

die() { printf 'run.sh: %s\n' "$*" >&2; exit 1; }
[ $# -gt 0 ] || die "./xcaddy.sh run ${PWD##*/} in the top folder builds the programs and starts this"

# needs PROGRAM...: each is on PATH.
needs() {
	local program
	for program; do
		command -v "$program" >/dev/null || die "this example needs $program, in Debian the package of that name"
	done
}

# ports PORT...: nobody listens on these.
ports() {
	local port
	for port; do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue
		die "port $port is in use; this example needs $* on localhost"
	done
}

# secrets NAME...: made at the first start, and kept.
secrets() {
	local name
	if [ ! -f "$env" ]; then
		for name; do
			printf 'export %s=%s\n' "$name" "$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=')"
		done >"$env"
	fi
	. "$env"
}

# start NAME PROGRAM...: until run.sh ends. What it writes is in NAME.log.
start() {
	local log=$GATEHOUSE_STATE/$1.log
	shift
	"$@" >"$log" 2>&1 &
	pids+=" $!"
}
running() {
	local pid
	for pid in $pids; do kill -0 "$pid" 2>/dev/null || return 1; done
}
end() {
	kill $pids "$@" 2>/dev/null || true
	wait
}
trap end EXIT
trap 'exit 0' HUP INT TERM

# ready URL...: waits until each answers.
ready() {
	local url
	for url; do
		for _ in $(seq 100); do
			curl -sf -m 5 -o /dev/null "$url" && continue 2
			running || break
			sleep 0.1
		done
		tail -n 5 "$GATEHOUSE_STATE"/*.log >&2
		die "$url does not answer"
	done
}

# stay: says what there is, and stays until Ctrl-C or until a program ends.
stay() {
	cat
	while running; do
		sleep 0.5 & # a foreground sleep would hold back the signals
		wait $!
	done
	die "a program has ended, so the others are stopped; $GATEHOUSE_STATE/*.log say why"
}
