#!/usr/bin/env bash
# Starts the quick start: run.sh CADDY LEGACY READER, the three programs.
. "$(dirname "${BASH_SOURCE[0]}")/../programs.sh"
caddy=$1 legacy=$2 reader=$3
needs curl
ports 8080 8081 8082 8083 2019
secrets READER_SECRET NIGHTLY_SECRET

start legacy "$legacy" -listen 127.0.0.1:8083
start reader "$reader" -listen 127.0.0.1:8082 -self http://localhost:8082 -issuer http://localhost:8080 -api http://localhost:8081
start caddy "$caddy" run --config Caddyfile
ready http://localhost:8080/.well-known/oauth-authorization-server http://localhost:8081/health http://localhost:8082/

stay <<TXT

Gatehouse is running.

  Try it        http://localhost:8082   sign in as alice, password: correct horse battery staple
  Issuer        http://localhost:8080   http://localhost:8080/.well-known/oauth-authorization-server
  Your account  http://localhost:8080/account   the applications alice has allowed, and her sessions
  Guarded API   http://localhost:8081   curl -i http://localhost:8081/articles  returns 401
  Legacy API    http://127.0.0.1:8083   the API behind the gateway
  Metrics       http://localhost:2019/metrics

  Tutorial      examples/quickstart/README.md walks through it with curl
  Secrets       . $env
  Logs          $GATEHOUSE_STATE/*.log

Stop with Ctrl-C.
TXT
