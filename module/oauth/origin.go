package oauth

import (
	"errors"
	"net/url"
	"strings"
)

// CheckOrigin reports why an origin could never equal one that a browser sends (RFC 6454
// section 6.2): origins are compared as strings.
func CheckOrigin(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != s || strings.ContainsAny(s, "*{} ") || s != strings.ToLower(s) ||
		u.Scheme == "https" && u.Port() == "443" || u.Scheme == "http" && u.Port() == "80" {
		return errors.New("must be written as browsers send it: scheme://host, a port only when it is not the default")
	}
	return nil
}
