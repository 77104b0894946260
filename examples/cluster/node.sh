#!/usr/bin/env bash
# Runs one node of the cluster that run.sh began: node.sh CADDY N, with N from 1 to 3.
set -euo pipefail
caddy=$1 n=$2
cd "$(dirname "${BASH_SOURCE[0]}")"
state=${GATEHOUSE_STATE:-$PWD/state}
. "$state/env"
ports=(8180 8181 8190 2019 8280 8281 8290 2119 8380 8381 8390 2219)
export NODE=$n ID_PORT=${ports[4 * n - 4]} API_PORT=${ports[4 * n - 3]} METRICS_PORT=${ports[4 * n - 2]} ADMIN=localhost:${ports[4 * n - 1]}
echo $$ >"$state/node$n.pid"
exec "$caddy" run --config Caddyfile >>"$state/node$n.log" 2>&1
