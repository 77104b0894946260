#!/usr/bin/env bash
# Starts the example for MediaWiki: run.sh CADDY.
. "$(dirname "${BASH_SOURCE[0]}")/../programs.sh"
caddy=$1
needs curl php
ports 8080 8081 8083 2019
secrets EDITOR_SECRET READER_SECRET WIKI_PASSWORD

wiki=/usr/share/mediawiki
[ -f "$wiki/maintenance/install.php" ] && php -r 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);' ||
	die "this example needs MediaWiki: on Debian, install mediawiki, php-cli and php-sqlite3"

# A separate wiki for the example, in one SQLite file. The installed program is not changed.
export MW_CONFIG_FILE=$GATEHOUSE_STATE/LocalSettings.php
if [ ! -f "$MW_CONFIG_FILE" ]; then
	rm -rf "$GATEHOUSE_STATE/wiki"
	mkdir "$GATEHOUSE_STATE/wiki"
	printf %s "$WIKI_PASSWORD" >"$GATEHOUSE_STATE/wiki/password"
	env -u MW_CONFIG_FILE php "$wiki/maintenance/install.php" --dbtype sqlite --dbname wiki --dbpath "$GATEHOUSE_STATE/wiki" \
		--confpath "$GATEHOUSE_STATE/wiki" --server http://127.0.0.1:8083 --scriptpath '' --lang en \
		--passfile "$GATEHOUSE_STATE/wiki/password" 'Example Wiki' Gateway >"$GATEHOUSE_STATE/install.log" 2>&1 ||
		die "the wiki could not be installed: $(tail -n 5 "$GATEHOUSE_STATE/install.log")"
	rm "$GATEHOUSE_STATE/wiki/password"
	# Requests start no job requests to the wiki itself, and visitors without an account cannot edit.
	printf '%s\n' '$wgJobRunRate = 0;' '$wgGroupPermissions["*"]["edit"] = false;' >>"$GATEHOUSE_STATE/wiki/LocalSettings.php"
	mv "$GATEHOUSE_STATE/wiki/LocalSettings.php" "$MW_CONFIG_FILE"
fi

# A single process handles one request after the other, so no worker can be left behind.
start mediawiki php -d opcache.enable_cli=1 -S 127.0.0.1:8083 -t "$wiki"
start caddy "$caddy" run --config Caddyfile
ready http://localhost:8080/.well-known/oauth-authorization-server http://localhost:8081/openapi.json \
	'http://127.0.0.1:8083/api.php?action=query&meta=siteinfo&format=json'

stay <<TXT

MediaWiki has a REST interface.

  MediaWiki       curl 'http://127.0.0.1:8083/api.php?action=query&pageids=99&format=json'   fails, with status 200
  REST interface  curl -i http://localhost:8081/pages   returns 401: reading requires a token
  Get a token     . $env
                  curl http://localhost:8080/token -u "editor:\$EDITOR_SECRET" -d grant_type=client_credentials
  The wiki        http://127.0.0.1:8083   the gateway's account there is Gateway, password \$WIKI_PASSWORD
  Tutorial        examples/mediawiki/README.md walks through it with curl
  Configuration   examples/mediawiki/Caddyfile
  Logs            $GATEHOUSE_STATE/*.log

Stop with Ctrl-C.
TXT
