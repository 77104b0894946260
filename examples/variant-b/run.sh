#!/usr/bin/env bash
# Starts the example for Variant B: run.sh CADDY PORTAL, the two programs.
. "$(dirname "${BASH_SOURCE[0]}")/../programs.sh"
caddy=$1 portal=$2
needs curl
ports 8080 8082 2019
secrets PORTAL_SECRET

start portal "$portal" -listen 127.0.0.1:8082 -self http://localhost:8082 -open http://localhost:8080 -api http://localhost:8080
start caddy "$caddy" run --config Caddyfile
ready http://localhost:8080/.well-known/oauth-authorization-server http://localhost:8082/

stay <<TXT

Lantern Teahouse, the example site, is running.

  Try it     http://localhost:8082   press "Sign in with your phone": a QR code, a number and a short code appear
             A phone cannot reach localhost on this machine, so use a private window or a second browser instead:
             open http://localhost:8080/device there, sign in as alice, password: correct horse battery staple,
             enter the short code, then the number, and confirm.
             The first window is signed in immediately, and shows Alice with her picture.
  Tutorial   examples/variant-b/README.md walks through it with curl, and signs in a device without a browser
  Metrics    http://localhost:2019/metrics
  Secret     . $env
  Logs       $GATEHOUSE_STATE/*.log

Stop with Ctrl-C.
TXT
