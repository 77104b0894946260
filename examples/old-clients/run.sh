#!/usr/bin/env bash
# Starts the example for programs that still use the password grant: run.sh CADDY.
. "$(dirname "${BASH_SOURCE[0]}")/../programs.sh"
caddy=$1
needs curl python3
ports 8080 8081 2019
secrets TILL_SECRET
TILL_UNTIL=$(python3 -c 'import datetime; print(datetime.date.today() + datetime.timedelta(180))')
export TILL_UNTIL

start caddy "$caddy" run --config Caddyfile
ready http://localhost:8080/.well-known/oauth-authorization-server

stay <<TXT

The gateway is running, with an old program that may send passwords until $TILL_UNTIL.

  Issuer       http://localhost:8080
  Guarded API  http://localhost:8081   curl -i http://localhost:8081/stock  returns 401
  The program  examples/old-clients/till.sh
  Metrics      http://localhost:2019/metrics

  Tutorial     examples/old-clients/README.md walks through it, to the end of the program
  Secrets      . $env
  Logs         $GATEHOUSE_STATE/*.log

Stop with Ctrl-C.
TXT
