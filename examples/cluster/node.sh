#!/usr/bin/env bash
# Runs one node of the cluster that run.sh began: node.sh CADDY N, with N from 1 to 3.
set -euo pipefail
caddy=$1 n=$2
cd "$(dirname "${BASH_SOURCE[0]}")"
state=${GATEHOUSE_STATE:-$PWD/state}
. "$state/env"
ports=(8180 8181 2019 8280 8281 2119 8380 8381 2219)
export NODE=$n ID_PORT=${ports[3 * n - 3]} API_PORT=${ports[3 * n - 2]} ADMIN=localhost:${ports[3 * n - 1]}
echo $$ >"$state/node$n.pid"
exec "$caddy" run --config Caddyfile >>"$state/node$n.log" 2>&1
