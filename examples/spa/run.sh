#!/usr/bin/env bash
# Starts the single-page application: run.sh CADDY.
. "$(dirname "${BASH_SOURCE[0]}")/../programs.sh"
caddy=$1
needs curl
ports 8080 8081 8082 2019
packages oidc-client-ts

start caddy "$caddy" run --config Caddyfile
ready http://localhost:8080/.well-known/openid-configuration http://localhost:8082/oidc-client-ts.min.js

stay <<TXT

The single-page application is running.

  Try it        http://localhost:8082   sign in as alice, password: correct horse battery staple
  Issuer        http://localhost:8080
  Your account  http://localhost:8080/account   withdraw the application's access there
  Guarded API   http://localhost:8081   curl -i http://localhost:8081/orders  returns 401
  The program   examples/spa/site/app.js
  Page          examples/spa/README.md
  Logs          $GATEHOUSE_STATE/*.log

Stop with Ctrl-C.
TXT
