#!/usr/bin/env bash
# Builds, runs and tests the gateway. The README's two commands are `./xcaddy.sh run`
# and `./xcaddy.sh test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
build=$PWD/.build
tools=$PWD/.ci/tools
mod=github.com/gatehouse/gatehouse
trap 'exit 130' INT # otherwise bash goes on after Ctrl-C if the running program handles it, as xcaddy does

usage() {
	cat <<'TXT'
Usage: ./xcaddy.sh [command]
  (none)        build ./caddy with the gateway and all its plugins
  -pgo          the same, optimized by the CPU profile in deploy/bench; compiles everything
                anew, which takes some minutes
  run [NAME]    build and start an example, and print its addresses and what to try;
                NAME is a folder of examples, quickstart by default
  check [PACKAGE ...]
                quick check during development: gofmt, go vet and the quick tests of
                the packages that differ from the main branch, or of those named
                (./module/guard), and of all packages that import them; lists the
                suites that only test runs
  bench [-h]    measure what a request costs, beside bare Caddy and other gateways;
                deploy/bench/README.md explains options and figures
  test          install what the tests need (on Debian and Ubuntu) and run them all
  soak [NAME]   run all long experiments, or the one named: kill, reload, race,
                limiter, keys, guess, timing, anonymous, slowbody, overload, polls,
                tickets, ending, cluster, scan, failover, simulation,
                growth, rest, proxies, bench, fuzz
Go is required (https://go.dev/dl).
TXT
}

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
die() { printf 'xcaddy.sh: %s\n' "$*" >&2; exit 1; }

# tool NAME: builds a development tool from the pinned module and prints its path.
tool() {
	local out=$build/tools/$1
	if [ ! -x "$out" ] || [ -n "$(find "$tools" -newer "$out")" ]; then
		mkdir -p "$build/tools"
		local pkg
		pkg=$(cd "$tools" && go list -f '{{.ImportPath}}' tool | grep "/$1\$") || die "no tool $1 in .ci/tools/go.mod"
		(cd "$tools" && go build -o "$out" "$pkg") || return 1
		touch "$out"
	fi
	printf '%s\n' "$out"
}

# caddy [OUT [FLAGS]]: builds Caddy with the gateway.
caddy() {
	local out=${1:-$PWD/caddy} flags=${2:-} xcaddy moduleproxy
	local version
	version=$(go list -m -f '{{.Version}}' github.com/caddyserver/caddy/v2)
	# xcaddy asks a module proxy about this module, too, before it takes the working copy.
	if xcaddy=$(command -v xcaddy || tool xcaddy) && moduleproxy=$(tool moduleproxy); then
		XCADDY_GO_BUILD_FLAGS="-ldflags=-s $flags" XCADDY_SETCAP=0 \
			"$moduleproxy" "$xcaddy" build "$version" --output "$out" --with "$mod/module" --replace "$mod=$PWD" >"$build/xcaddy.log" 2>&1 && return
		say "building the same program with go build instead of xcaddy (.build/xcaddy.log has the reason)"
	fi
	# The main package that xcaddy generates.
	mkdir -p "$build/main"
	cat >"$build/main/main.go" <<GO
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "$mod/module"
)

func main() { caddycmd.Main() }
GO
	# shellcheck disable=SC2086 # flags are words
	go build -ldflags=-s $flags -o "$out" "$build/main/main.go"
}

# install_test_tools installs what the tests drive, on Debian and Ubuntu; elsewhere it says what is missing.
install_test_tools() {
	local missing=()
	compgen -c chromium | grep -qxE 'chromium(-browser|-headless-shell)?' || missing+=(chromium)
	command -v node >/dev/null || missing+=(nodejs)
	command -v npm >/dev/null || missing+=(npm)
	command -v curl >/dev/null || missing+=(curl)
	if command -v fc-list >/dev/null; then
		fc-list :lang=zh 2>/dev/null | grep -q . || missing+=(fonts-noto-cjk)
	else
		missing+=(fontconfig fonts-noto-cjk)
	fi
	command -v zbarimg >/dev/null || missing+=(zbar-tools)
	command -v gcc >/dev/null || missing+=(gcc libc6-dev)
	command -v systemd-analyze >/dev/null || missing+=(systemd)
	# Servers that the tests start themselves, on ports of their own. Some live where only root's PATH looks.
	compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || missing+=(postgresql)
	[ -x /usr/sbin/mariadbd ] || missing+=(mariadb-server)
	[ -x /usr/sbin/slapd ] || missing+=(slapd)
	command -v ldapsearch >/dev/null || missing+=(ldap-utils)
	command -v redis-server >/dev/null || missing+=(redis-server)
	command -v redis-sentinel >/dev/null || missing+=(redis-sentinel)
	command -v promtool >/dev/null && command -v prometheus >/dev/null || missing+=(prometheus)
	[ -x /usr/sbin/nginx ] || missing+=(nginx-light)
	[ -x /usr/sbin/apache2 ] || missing+=(apache2)
	[ -e /usr/lib/apache2/modules/mod_auth_openidc.so ] || missing+=(libapache2-mod-auth-openidc)
	# Real APIs behind api_rest: one has its database in a file, the other in MariaDB.
	[ -e /usr/share/mediawiki/api.php ] || missing+=(mediawiki)
	[ -e /usr/share/wordpress/wp-load.php ] || missing+=(wordpress)
	php -r 'exit(extension_loaded("pdo_sqlite") && extension_loaded("mysqli") ? 0 : 1);' 2>/dev/null || missing+=(php-cli php-sqlite3 php-mysql)
	# Stock clients in Python; requests-oauthlib comes with it.
	/usr/bin/python3 -c 'import social_core' 2>/dev/null || missing+=(python3-social-auth-core)
	if [ ${#missing[@]} -gt 0 ]; then
		command -v apt-get >/dev/null || die "the tests need: ${missing[*]} (install them; this script can do so on Debian and Ubuntu)"
		say "installing ${missing[*]}"
		local sudo=
		[ "$(id -u)" = 0 ] || sudo=sudo
		$sudo apt-get update -q >"$build/apt.log" 2>&1 || true
		# Debian has a package with the headless Chromium alone, which takes half the CPU time.
		if apt-cache show chromium-headless-shell >/dev/null 2>&1; then
			missing=("${missing[@]/#chromium/chromium-headless-shell}")
		fi
		# With a runlevel of 1 the packages do not start their services.
		$sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y --no-install-recommends "${missing[@]}" >>"$build/apt.log" 2>&1 ||
			{ tail -20 "$build/apt.log" >&2; die "could not install ${missing[*]}"; }
	fi
	if [ ! -d .ci/node/node_modules ] || [ .ci/node/package-lock.json -nt .ci/node/node_modules ]; then
		say "installing the browser driver and stock clients from npm"
		npm --prefix .ci/node ci --no-audit --no-fund >"$build/npm.log" 2>&1 || { cat "$build/npm.log" >&2; die "npm ci failed"; }
		touch .ci/node/node_modules
	fi
}

static_checks() {
	say "gofmt, vet, staticcheck"
	local unformatted
	unformatted=$(git ls-files '*.go' | xargs gofmt -l)
	[ -z "$unformatted" ] || die "not gofmt'ed: $unformatted"
	go mod tidy -diff || die "go.mod is not tidy: run go mod tidy"
	go vet ./...
	"$(tool staticcheck)" ./...
	(cd .ci/tools && go mod tidy -diff && go vet ./... && "$(tool staticcheck)" ./... && go test -vet=off ./...) || die ".ci/tools is broken"
	(cd .ci/chart && go mod tidy -diff && go vet ./... && "$(tool staticcheck)" ./...) || die ".ci/chart is broken"
	(cd .ci/compose && go mod tidy -diff && go vet ./... && "$(tool staticcheck)" ./...) || die ".ci/compose is broken"
	# Its benchmark is run by hand: go test -bench . in that folder.
	(cd .ci/limiterbench && go mod tidy -diff && go vet ./...) || die ".ci/limiterbench is broken"
	(cd plugins/internal/simulation && go mod tidy -diff && go vet ./... && "$(tool staticcheck)" ./...) || die "plugins/internal/simulation is broken"
}

# known_vulnerabilities asks the database of Go's vulnerabilities, where it can be reached.
known_vulnerabilities() {
	if curl -sfm 10 -o /dev/null https://vuln.go.dev/index/db.json; then
		say "govulncheck"
		"$(tool govulncheck)" ./...
	else
		say "govulncheck: its database cannot be reached from here, left out"
	fi
}

# These suites drive programs that are built without -race, such as the commands, browsers or real APIs, or measure
# programs. What runs at the same time in a gateway is tested with -race by the suites gateway,
# restapi and outage and by the packages themselves.
driving=(cli qrlogin cluster quickstart growth wordpress mediawiki variantb book examples pages)
# What measures memory and time has the machine to itself.
measured='/internal/e2e/soak$|/plugins/limiter/redis$'

# sequential reads import paths and lists those in which, tests included, nothing runs at the
# same time as something else: no goroutine, no server, no gateway.
sequential() {
	local package dir
	while IFS='|' read -r package dir; do
		grep -qE '"sync(/atomic)?"|golang.org/x/sync|^[[:space:]]*go |\.Go\(|t\.Parallel|net/http/httptest|/testkit/harness"' "$dir"/*.go || echo "$package"
	done
}

# unraced lists the test files that compute at length in one goroutine and are left to a run
# without -race.
unraced() {
	git grep -lE '^//go:build !race$' -- '*_test.go'
}

# without_race PACKAGE ...: these, the tests of the files that unraced lists, and a hundred nodes
# in one process.
without_race() {
	local tests
	# go vet has seen all packages.
	go test -vet=off -timeout 30m "${flags[@]}" "$@" || return 1
	tests=$(unraced | xargs sed -n 's/^func \(Test[[:alnum:]_]*\)(.*/\1/p' | paste -sd '|')
	unraced | xargs dirname | sort -u | sed 's|^|./|' | xargs go test -vet=off -timeout 30m -run "^($tests)\$" "${flags[@]}" || return 1
	(cd plugins/internal/simulation && go test -vet=off "${flags[@]}" .)
}

run_tests() {
	local flags=("$@") all plain installing others failed=
	mkdir -p "$build"
	# On a new machine the packages are downloaded while the static checks compile. A failed check
	# waits for them: dpkg must not be killed.
	install_test_tools &
	installing=$!
	# shellcheck disable=SC2064 # the process of now
	trap "wait $installing || true" EXIT
	# xcaddy builds without cgo. The race detector needs it.
	export CGO_ENABLED=0
	static_checks
	wait "$installing"
	trap - EXIT
	known_vulnerabilities
	say "building ./caddy"
	caddy "$PWD/caddy"
	export GATEHOUSE_CADDY=$PWD/caddy
	# The longest suite first, then the others, then what is quick.
	all=$(go list ./internal/e2e/gateway ./internal/e2e/... ./... | grep -vE "$measured" | xargs go list -f '{{.ImportPath}}|{{.Dir}}')
	plain=$(printf "$mod/internal/e2e/%s\n" "${driving[@]}")$'\n'$(sequential <<<"$all")
	say "go test, with -race where things run at the same time"
	# Suites wait for much of their time, so twice as many run as there are processors: half of
	# them with -race, half without.
	trap 'trap - INT; kill 0' INT # a shell's background jobs do not hear it
	# A program built with -race sleeps before it exits, a second by default, and there are a hundred of them.
	export GORACE=atexit_sleep_ms=100
	# shellcheck disable=SC2086 # import paths are words
	without_race $plain &
	others=$!
	cut -d '|' -f 1 <<<"$all" | grep -vxF "$plain" | CGO_ENABLED=1 xargs go test -vet=off -race -timeout 30m "${flags[@]}" || failed=1
	wait "$others" || failed=1
	trap 'exit 130' INT
	[ -z "$failed" ] || die "tests failed"
	say "go test, what measures"
	go test -vet=off -timeout 20m "${flags[@]}" ./internal/e2e/soak # it drives programs, too
	CGO_ENABLED=1 go test -vet=off -race -timeout 20m "${flags[@]}" ./plugins/limiter/redis
	say "fuzzing every parser for four seconds"
	FUZZTIME=4s .ci/soak fuzz >"$build/fuzz.log" 2>&1 || { tail -40 "$build/fuzz.log" >&2; die "fuzzing found something; .build/fuzz.log has the whole"; }
	say "all tests passed in $((SECONDS / 60)) min $((SECONDS % 60)) s"
}

run() {
	local example=${1:-quickstart} programs=() source
	[ -x "examples/$example/run.sh" ] || die "no example $example to run"
	if [ -x caddy ]; then
		say "building ./caddy, Caddy with the gateway (the first build takes some minutes, later ones seconds)"
	else
		say "building ./caddy, Caddy with the gateway: Go downloads and compiles it all, which takes 2 to 5 minutes the first time"
	fi
	caddy "$PWD/caddy"
	say "built; starting the example $example"
	case $example in
	quickstart) set -- ./examples/legacy ./examples/quickstart/reader ;;
	variant-b) set -- ./examples/variant-b/portal ;;
	cluster | legacy-rest) set -- ./examples/legacy ;;
	*) set -- ;;
	esac
	for source; do
		go build -o "$build/${source##*/}" "$source"
		programs+=("$build/${source##*/}")
	done
	exec "examples/$example/run.sh" "$PWD/caddy" "${programs[@]}"
}

mkdir -p "$build"
command -v go >/dev/null || die "Go is not installed: https://go.dev/dl"
# The same flags everywhere, so that nothing is compiled twice. The tags are those of xcaddy's own builds: they leave out
# databases that only Caddy's ACME server could use.
GOFLAGS="$(go env GOFLAGS) -trimpath -tags=nobadger,nomysql,nopgx"
export GOFLAGS
case ${1:-} in
-pgo) caddy "$PWD/caddy" "-pgo=$PWD/deploy/bench/gatehouse.pgo" && say "built ./caddy" ;;
"") caddy && say "built ./caddy: try ./xcaddy.sh run" ;;
run) shift; run "$@" ;;
check) shift; exec .ci/check "$@" ;;
test) shift; run_tests "$@" ;;
bench) shift; caddy "$PWD/caddy" && exec go run ./deploy/bench "$@" ;;
soak) shift; exec .ci/soak "$@" ;;
-h | --help | help) usage ;;
*)
	printf 'xcaddy.sh: there is no command %s\n' "$1" >&2
	usage >&2
	exit 2
	;;
esac
