#!/usr/bin/env bash
# Refreshes gatehouse.pgo, the CPU profile for `./xcaddy.sh -pgo`, in some five minutes. A profile of
# older code is still of use, so once in a while is enough. Takes further options of bench.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=.build/profile
rm -rf "$out"
# A row of each kind of work counts the same.
./xcaddy.sh bench -out "$out" -rotations 1 -slice 300ms -live 20000 -profile 10s \
	-only '^api_proxy$|^oauth_guard|^errors, guard|^limits in Redis|^refused|^/token|^cold' "$@"
rm "$out"/bare-*.pprof
go tool pprof -proto "$out"/*.pprof >"$out/merged"
mv "$out/merged" deploy/bench/gatehouse.pgo
ls -l deploy/bench/gatehouse.pgo
