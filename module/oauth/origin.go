package oauth

import (
	"errors"
	"net/url"
	"strings"
)

// Origin writes the origin of a URL as browsers do (RFC 6454 section 6.2): lower case, without the default port.
func Origin(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "https":
		host = strings.TrimSuffix(host, ":443")
	case "http":
		host = strings.TrimSuffix(host, ":80")
	}
	return scheme + "://" + host
}

// CheckOrigin reports why an origin could never equal one that a browser sends: origins are compared as strings.
func CheckOrigin(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || Origin(u) != s || strings.ContainsAny(s, "*{} ") {
		return errors.New("must be written as browsers send it: scheme://host, a port only when it is not the default")
	}
	return nil
}
