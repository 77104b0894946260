package doctor

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

const (
	// fetchTimeout bounds a look at the issuer.
	fetchTimeout = 10 * time.Second
	// skewLimit is how far clocks may differ: half the leeway that tokens are given.
	skewLimit = 30 * time.Second
)

// checkIssuer fetches the issuer's metadata as a client on this machine would.
func checkIssuer(ctx context.Context, issuer string) (out adminapi.Findings) {
	const check = "issuer"
	u, err := url.Parse(issuer)
	var r *http.Request
	if err == nil {
		u.Path = "/.well-known/oauth-authorization-server" + strings.TrimSuffix(u.Path, "/")
		r, err = http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	}
	if err != nil {
		out.Fail(check, "correct the global option `issuer`", "%s is no address", issuer)
		return out
	}
	client := &http.Client{Timeout: fetchTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		reportUnreachable(&out, issuer, err)
		return out
	}
	defer func() { _ = res.Body.Close() }()
	var metadata struct {
		Issuer string `json:"issuer"`
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(body, &metadata)
	}
	if res.StatusCode != http.StatusOK || err != nil || metadata.Issuer != issuer {
		remedy := "put `oauth_server` on the site of that address, and let a proxy in front pass the path and the Host field on unchanged"
		switch location := res.Header.Get("Location"); {
		case location != "":
			remedy = "make the issuer the address to which that redirects, which is " + location
		case u.Scheme == "http" && strings.Contains(string(body), "HTTPS server"): // as Go's server says
			remedy = "that port speaks https: make the issuer https, or the site http"
		}
		out.Fail(check, remedy, "%s answers %d and is not the metadata of %s", u, res.StatusCode, issuer)
		return out
	}
	out.OK(check, "%s answers with its metadata", issuer)
	if t := res.TLS; t != nil && len(t.PeerCertificates) > 0 {
		if expires := t.PeerCertificates[0].NotAfter; time.Until(expires) < 7*24*time.Hour {
			out.Warn(check, "look at the log lines of tls.renew", "the certificate of %s ends on %s", u.Host, adminapi.Day(expires))
		}
	}
	if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		if skew := time.Since(date).Round(time.Second); skew > skewLimit || skew < -skewLimit {
			out.Fail("clock", "set the clocks with NTP", "the clock of the issuer and the one here differ by %v", skew)
		} else {
			out.OK("clock", "the clock of the issuer and the one here agree")
		}
	}
	return out
}

// reportUnreachable reports why the issuer cannot be reached.
func reportUnreachable(out *adminapi.Findings, issuer string, err error) {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	remedy := "see that the name leads to the gateway, also from here, and that its port is open"
	switch {
	case errors.As(err, &unknown):
		remedy = "let Caddy get a certificate for the name, or for its internal authority run `caddy trust` here"
	case errors.As(err, &host):
		remedy = "serve a certificate for the issuer's name: its site address must be that name"
	}
	out.Fail("issuer", remedy, "%s cannot be reached from here: %v", issuer, err)
}
