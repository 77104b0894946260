package gateway

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// ParseIssuer checks an issuer: https, or http on a loopback address, without query,
// fragment, user or trailing slash (RFC 8414 section 2). Its errors contain the configured
// text, not the values of placeholders.
func ParseIssuer(configured string, repl *caddy.Replacer) (*url.URL, error) {
	if configured == "" {
		return nil, errors.New("issuer is missing: expected the address of the authorization server, such as https://id.example.com")
	}
	s, err := filled(configured, repl)
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#"):
		return nil, fmt.Errorf("issuer %s: expected an absolute URL of scheme, host and perhaps a path, such as https://id.example.com", configured)
	case strings.HasSuffix(s, "/"):
		return nil, fmt.Errorf("issuer %s: expected no slash at the end", configured)
	case u.Path != "" && (u.EscapedPath() != u.Path || path.Clean(u.Path) != u.Path):
		return nil, fmt.Errorf("issuer %s: expected a path without escapes, dot segments and double slashes", configured)
	case u.Scheme == "http" && !oauth.Loopback(u.Hostname()):
		return nil, fmt.Errorf("issuer %s: expected https; http is for loopback addresses only", configured)
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("issuer %s: expected https", configured)
	}
	return u, nil
}
