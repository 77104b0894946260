package webui

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// The values of QRView.State and ConfirmView.Done.
var (
	qrStates    = []string{"waiting", "scanned", "denied", "expired", "confirmed"}
	confirmDone = []string{"", "confirmed", "denied", "wrong"}
)

// QR writes the page with a code to scan. Its policy allows only the script of v with its
// requests, and lets v.Frames frame it.
func (p *Pages) QR(w http.ResponseWriter, status int, v QRView) {
	h, err := p.qrHeaders(v)
	if err != nil {
		p.writeFailure(w, "qr", err)
		return
	}
	p.writeWith(w, status, "qr", v.Lang, v, h)
}

// Confirm writes the page that asks for confirmation: fields number, decision ("confirm"
// or "deny"), request and token; none when done.
func (p *Pages) Confirm(w http.ResponseWriter, status int, v ConfirmView) {
	p.writePage(w, status, "confirm", v.Lang, v)
}

// EnterCode writes the page on which a short code is typed: fields user_code, request and token.
func (p *Pages) EnterCode(w http.ResponseWriter, status int, v EnterCodeView) {
	p.writePage(w, status, "entercode", v.Lang, v)
}

// These patterns match what may become a source expression: a character with a meaning in a policy would add
// directives.
var (
	originSource = regexp.MustCompile(`^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?$|^https?://\[[0-9a-fA-F:.]+\](:[0-9]{1,5})?$`)
	pathSource   = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)
)

// qrHeaders names script and poll by their complete URLs: on a host that also serves
// applications, 'self' would include all of their files.
func (p *Pages) qrHeaders(v QRView) (http.Header, error) {
	h := p.security.Clone()
	policy := h.Get("Content-Security-Policy")
	u, err := url.Parse(v.Address)
	if err != nil || !originSource.MatchString(u.Scheme+"://"+u.Host) {
		return nil, errors.New("webui: the address of a code is not absolute")
	}
	own := u.Scheme + "://" + u.Host
	if v.Script != "" {
		poll, _, _ := strings.Cut(v.Poll, "?")
		if !pathSource.MatchString(v.Script) || !pathSource.MatchString(poll) {
			return nil, errors.New("webui: script or poll of a code is not a plain path")
		}
		policy += "; script-src " + own + v.Script + "; connect-src " + own + poll
	}
	h.Set("Content-Security-Policy", policy)
	return h, mayFrame(h, v.Frames)
}

// mayFrame lets the origins, and nobody else, frame a page with these headers.
func mayFrame(h http.Header, origins []string) error {
	if len(origins) == 0 {
		return nil
	}
	for _, origin := range origins {
		if !originSource.MatchString(origin) {
			return fmt.Errorf("webui: %q is not an origin that may frame a page", origin)
		}
	}
	policy := h.Get("Content-Security-Policy")
	h.Set("Content-Security-Policy", strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors "+strings.Join(origins, " "), 1))
	h.Del("X-Frame-Options") // it cannot name origins
	return nil
}

// setQR checks a view and computes what its template cannot.
func (d *data) setQR(v QRView) error {
	if !slices.Contains(qrStates, v.State) {
		return fmt.Errorf("webui: a code has no state %q", v.State)
	}
	for _, path := range []string{v.Image, v.Poll, v.Refresh, v.Again} {
		if !samePath(path) {
			return errors.New("webui: an address of the page with the code is not an absolute path")
		}
	}
	for _, address := range []string{v.Address, v.Entry} {
		if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" {
			return errors.New("webui: the address of a code is not absolute")
		}
	}
	d.fill["client"], d.fill["host"] = v.Client, v.Host
	d.fill["entry"] = strings.TrimPrefix(v.Entry, "https://") // less to type
	d.Small = v.Small
	var err error
	if d.Before, d.After, err = answerAround(v.Redirect, v.ClientState); err != nil {
		return err
	}
	if v.Code != "" {
		d.Onward = template.URL(d.Before + "code=" + url.QueryEscape(v.Code) + d.After) //nolint:gosec // answerAround has looked at the scheme
	}
	return nil
}

// answerAround returns the parts of the answer's address before and after "code=...". The state is encoded here,
// byte for byte: in an attribute, a page would change line ends and invalid UTF-8.
func answerAround(redirect, state string) (before, after string, err error) {
	u, err := url.Parse(redirect)
	if err != nil || u.Scheme == "" || slices.Contains([]string{"javascript", "data", "vbscript", "blob"}, strings.ToLower(u.Scheme)) {
		return "", "", errors.New("webui: the redirect address is not a valid URL")
	}
	separator := "?"
	if strings.Contains(redirect, "?") {
		separator = "&"
	}
	// Every decoder reads %20 as a space, but only those of forms read a plus as one.
	return redirect + separator, "&state=" + strings.ReplaceAll(url.QueryEscape(state), "+", "%20"), nil
}
