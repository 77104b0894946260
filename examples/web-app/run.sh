#!/usr/bin/env bash
# Starts the web application: run.sh CADDY.
. "$(dirname "${BASH_SOURCE[0]}")/../programs.sh"
caddy=$1
needs curl
command -v node >/dev/null || die 'this example needs Node.js 20 or newer: on Debian, install nodejs and npm'
ports 8080 8081 8082 2019
packages openid-client
secrets SHOP_SECRET

start caddy "$caddy" run --config Caddyfile
ready http://localhost:8080/.well-known/openid-configuration
start app node app.js
ready http://localhost:8082/

stay <<TXT

The web application is running.

  Try it        http://localhost:8082   sign in as alice, password: correct horse battery staple
  Issuer        http://localhost:8080
  Your account  http://localhost:8080/account   withdraw the application's access there
  Guarded API   http://localhost:8081   curl -i http://localhost:8081/orders  returns 401
  The program   examples/web-app/app.js
  Page          examples/web-app/README.md
  Logs          $GATEHOUSE_STATE/*.log

Stop with Ctrl-C.
TXT
