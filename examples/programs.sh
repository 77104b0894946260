# Functions shared by the run.sh of the examples: their programs start and stop together.
# Sourcing this changes into the folder of the example.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[1]}")"
umask 077
export GATEHOUSE_STATE=${GATEHOUSE_STATE:-$PWD/state}
mkdir -p "$GATEHOUSE_STATE"
env=$GATEHOUSE_STATE/env pids=

die() { printf 'run.sh: %s\n' "$*" >&2; exit 1; }
[ $# -gt 0 ] || die "run ./xcaddy.sh run ${PWD##*/} in the repository root instead: it builds the programs first"

# needs PROGRAM...: checks that each is on PATH.
needs() {
	local program
	for program; do
		command -v "$program" >/dev/null || die "this example needs $program: on Debian, install the package of that name"
	done
}

# packages NAME...: installs what package-lock.json names, unless these packages are there.
packages() {
	local name
	for name; do
		[ ! -d "node_modules/$name" ] || continue
		command -v npm >/dev/null || die "this example needs $name from npm: install npm, or put $name into $PWD/node_modules"
		npm ci --ignore-scripts --no-audit --no-fund >"$GATEHOUSE_STATE/npm.log" 2>&1 ||
			die "this example needs $name: npm ci in $PWD failed, see $GATEHOUSE_STATE/npm.log"
		return
	done
}

# ports PORT...: checks that none of them is in use.
ports() {
	local port
	for port; do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue
		die "port $port is in use; this example needs the ports $* on localhost"
	done
}

# secrets NAME...: generates them at the first start, keeps them, and exports them.
secrets() {
	local name
	if [ ! -f "$env" ]; then
		for name; do
			printf 'export %s=%s\n' "$name" "$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=')"
		done >"$env"
	fi
	. "$env"
}

# start NAME PROGRAM...: runs it until run.sh ends, with its output in NAME.log.
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
	until wait; do :; done # bash at times takes the signal that ended stay for one that interrupts this
}
trap end EXIT
trap 'exit 0' HUP INT TERM

# ready URL...: waits until each responds with success.
ready() {
	local url
	for url; do
		for _ in $(seq 100); do
			curl -sf -m 5 -o /dev/null "$url" && continue 2
			running || break
			sleep 0.1
		done
		tail -n 5 "$GATEHOUSE_STATE"/*.log >&2
		die "no response from $url; the logs in $GATEHOUSE_STATE end as shown above"
	done
}

# stay: prints stdin, and waits until Ctrl-C or until a program ends.
stay() {
	cat
	while running; do
		sleep 0.5 & # a foreground sleep would hold back the signals
		wait $!
	done
	die "a program has ended, so the others were stopped; see $GATEHOUSE_STATE/*.log for the reason"
}
