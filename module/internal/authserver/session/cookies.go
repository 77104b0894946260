package session

import (
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// Cookies names and sets the cookies of an issuer.
type Cookies struct {
	// Secure says that the issuer is https. Over loopback http, Safari drops Secure cookies and those with the prefix
	// that demands Secure.
	Secure bool
}

func (c Cookies) name(suffix string) string {
	if c.Secure {
		return httpx.CookiePrefix + httpx.CookieName + suffix
	}
	return httpx.CookieName + suffix
}

// maxIDs is how many cookies of one kind count in a request.
const maxIDs = 32

// NewBrowser gives a browser the cookie that ties all its tabs together, and returns its value. Its name is new too: a
// browser that opens several tabs on its first visit gets a cookie with each, and keeps them all, so that the form in
// each tab stays valid.
func (c Cookies) NewBrowser(w http.ResponseWriter) string {
	id := secret.Token()
	c.Set(w, c.name("-browser-"+nameEnd()), id, 0)
	return id
}

// BrowserIDs returns the values of the cookies of NewBrowser that a request has.
func (c Cookies) BrowserIDs(r *http.Request) []string { return idsNamed(r, c.name("-browser")) }

// idsNamed returns the values of the cookies that have this name, or begin with it and a hyphen.
func idsNamed(r *http.Request, name string) (ids []string) {
	for _, k := range r.Cookies() {
		end, ok := strings.CutPrefix(k.Name, name)
		if ok && (end == "" || end[0] == '-') && secret.IsToken(k.Value) && len(ids) < maxIDs {
			ids = append(ids, k.Value)
		}
	}
	return ids
}

func nameEnd() string { return secret.Token()[:8] }

// Session names the cookie of the signed-in user.
func (c Cookies) Session() string { return c.name("") }

// Known names the cookie that lists who signed in at this browser before.
func (c Cookies) Known() string { return c.name("-known") }

// LastSignIn names the cookie that distinguishes sign-in pages shown before a sign-in from those shown after it.
func (c Cookies) LastSignIn() string { return c.name("-last-sign-in") }

// Set sets a cookie; maxAge is in seconds, 0 for as long as the browser runs, negative to delete.
func (c Cookies) Set(w http.ResponseWriter, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge,
		Secure: c.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// NewFrame is NewBrowser for a page framed by another site, where browsers send no SameSite cookies. Browsers keep such
// cookies for each surrounding site (Partitioned), so other frames cannot reach what they protect. Browsers accept
// SameSite=None and Partitioned only with Secure.
func (c Cookies) NewFrame(w http.ResponseWriter) string {
	cookie := &http.Cookie{
		Name: c.name("-frame-" + nameEnd()), Value: secret.Token(), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if c.Secure {
		cookie.Secure, cookie.SameSite, cookie.Partitioned = true, http.SameSiteNoneMode, true
	}
	http.SetCookie(w, cookie)
	return cookie.Value
}

// FrameIDs returns the values of the cookies of NewFrame that a request has.
func (c Cookies) FrameIDs(r *http.Request) []string { return idsNamed(r, c.name("-frame")) }

// TokenCookie returns the value of a cookie of ours, "" if the request has none or it is not one that we made.
func TokenCookie(r *http.Request, name string) string {
	if c, err := r.Cookie(name); err == nil && secret.IsToken(c.Value) {
		return c.Value
	}
	return ""
}
