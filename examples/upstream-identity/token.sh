#!/usr/bin/env bash
# Prints an access token of a user: token.sh USER SCOPES. It plays the browser and the application
# of the user; examples/quickstart explains each step.
set -euo pipefail
issuer=http://localhost:8080 callback=http://localhost:8082/callback
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
random() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '='; }
browse() { curl -sf -b "$folder/cookies" -c "$folder/cookies" "$@"; }
field() { grep -o "<input[^>]*name=\"$1\"[^>]*>" "$folder/page" | head -1 | sed 's/.*value="\([^"]*\)".*/\1/'; }
verifier=$(random)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | base64 | tr '+/' '-_' | tr -d '=')
browse -o "$folder/page" --get $issuer/authorize -d client_id=notebook -d redirect_uri=$callback -d response_type=code \
	--data-urlencode "scope=$2" -d state="$(random)" -d code_challenge="$challenge" -d code_challenge_method=S256
code=$(browse -o "$folder/done" -w '%{redirect_url}' $issuer/login -H "Origin: $issuer" --data-urlencode "request=$(field request)" \
	--data-urlencode "token=$(field token)" -d username="$1" --data-urlencode 'password=correct horse battery staple' |
	sed 's/.*[?&]code=\([^&]*\).*/\1/')
curl -sf $issuer/token -d grant_type=authorization_code -d client_id=notebook -d redirect_uri=$callback -d code="$code" \
	-d code_verifier="$verifier" | sed 's/.*"access_token":"\([^"]*\)".*/\1/'
