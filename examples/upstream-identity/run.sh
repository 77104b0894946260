#!/usr/bin/env bash
# Starts the example for APIs that need to know their caller: run.sh CADDY.
. "$(dirname "${BASH_SOURCE[0]}")/../programs.sh"
caddy=$1
needs curl openssl python3
ports 8080 8081 8083 2019
secrets CENSUS_SECRET

start notes python3 -u notes.py
start caddy "$caddy" run --config Caddyfile
ready http://localhost:8080/.well-known/oauth-authorization-server http://127.0.0.1:8083/notes

stay <<TXT

The gateway is running in front of an API with notes of each user.

  Issuer       http://localhost:8080   users: alice and bob, password: correct horse battery staple
  Guarded API  http://localhost:8081   curl -i http://localhost:8081/notes  returns 401
  The API      http://127.0.0.1:8083   examples/upstream-identity/notes.py

  Tutorial     examples/upstream-identity/README.md walks through it with curl
  Secrets      . $env
  Logs         $GATEHOUSE_STATE/*.log

Stop with Ctrl-C.
TXT
