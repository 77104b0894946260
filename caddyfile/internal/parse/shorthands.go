package parse

import (
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// shorthands maps the placeholders that Caddy writes out before a directive sees its words
// back to their short forms.
var shorthands = func() *strings.Replacer {
	var both []string
	for _, name := range []string{
		"host", "hostport", "port", "orig_method", "orig_uri", "orig_path", "orig_dir", "orig_file", "orig_query", "method", "uri", "path",
		"dir", "file", "query", "remote", "remote_host", "remote_port", "scheme", "uuid", "tls_cipher", "tls_version",
		"tls_client_fingerprint", "tls_client_issuer", "tls_client_serial", "tls_client_subject", "tls_client_certificate_pem",
		"tls_client_certificate_der_base64", "upstream_hostport", "client_ip",
	} {
		written := caddyfile.Segment{{Text: "{" + name + "}"}}
		httpcaddyfile.NewShorthandReplacer().ApplyToSegment(&written)
		both = append(both, written[0].Text, "{"+name+"}")
	}
	return strings.NewReplacer(both...)
}()

// UndoShorthands turns {http.request.uri.path} back into the {path} that was written: in the
// paths and templates of api_rest, {path} or {dir} are names like any other.
func UndoShorthands(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return shorthands.Replace(text)
}
