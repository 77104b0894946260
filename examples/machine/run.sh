#!/usr/bin/env bash
# Starts the example for programs without a user: run.sh CADDY.
. "$(dirname "${BASH_SOURCE[0]}")/../programs.sh"
caddy=$1
needs curl openssl python3
ports 8080 8081 2019
secrets REPORT_SECRET

# The key pair of the client billing, and its public half as a JWK set.
key=$GATEHOUSE_STATE/billing.pem
if [ ! -f "$GATEHOUSE_STATE/billing.jwks" ]; then
	openssl genrsa -out "$key" 2048 2>/dev/null
	modulus=$(openssl rsa -in "$key" -noout -modulus | sed 's/Modulus=//; s/../\\x&/g')
	printf '{"keys":[{"kty":"RSA","alg":"RS256","n":"%s","e":"AQAB"}]}\n' \
		"$(printf "$modulus" | base64 | tr '+/' '-_' | tr -d '=\n')" >"$GATEHOUSE_STATE/billing.jwks"
fi

start caddy "$caddy" run --config Caddyfile
ready http://localhost:8080/.well-known/oauth-authorization-server

stay <<TXT

The gateway is running, with two programs as its clients.

  Issuer       http://localhost:8080   http://localhost:8080/.well-known/oauth-authorization-server
  Guarded API  http://localhost:8081   curl -i http://localhost:8081/orders  returns 401
  A program    examples/machine/orders.py

  Tutorial     examples/machine/README.md runs it, with a secret and with a key
  Secrets      . $env
  Logs         $GATEHOUSE_STATE/*.log

Stop with Ctrl-C.
TXT
