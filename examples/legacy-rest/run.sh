#!/usr/bin/env bash
# Starts the example for REST conventions: run.sh CADDY LEGACY, the two programs.
. "$(dirname "${BASH_SOURCE[0]}")/../programs.sh"
caddy=$1 legacy=$2
needs curl openssl
ports 8080 8081 8082 8083 2019
secrets EDITOR_SECRET NIGHTLY_SECRET READER_SECRET

# The certificate of the server with the files to import. Only these programs trust it: Go
# reads this folder in addition to the system's certificates.
export SSL_CERT_DIR=$GATEHOUSE_STATE/trusted
if [ ! -f "$SSL_CERT_DIR/files.crt" ]; then
	mkdir -p "$SSL_CERT_DIR"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj /CN=localhost \
		-addext subjectAltName=DNS:localhost -keyout "$GATEHOUSE_STATE/files.key" -out "$SSL_CERT_DIR/files.crt" 2>/dev/null
fi

start legacy "$legacy" -listen 127.0.0.1:8083 -import 2s
start caddy "$caddy" run --config Caddyfile
ready http://localhost:8080/.well-known/oauth-authorization-server http://localhost:8081/health http://127.0.0.1:8083/health

stay <<TXT

The legacy API has a REST interface.

  Legacy API      curl 'http://127.0.0.1:8083/api.php?mod=article&act=get&aid=7'   fails, with status 200
  REST interface  curl -i http://localhost:8081/articles   returns 401: reading requires a token
  Get a token     . $env
                  curl http://localhost:8080/token -u "editor:\$EDITOR_SECRET" -d grant_type=client_credentials
  Tutorial        examples/legacy-rest/README.md walks through it with curl
  Configuration   examples/legacy-rest/Caddyfile
  Logs            $GATEHOUSE_STATE/*.log

Stop with Ctrl-C.
TXT
