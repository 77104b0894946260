package session

import (
	"net/http"

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

// Browser names the cookie that ties all tabs of a browser together.
func (c Cookies) Browser() string { return c.name("-browser") }

// Session names the cookie of the signed-in user.
func (c Cookies) Session() string { return c.name("") }

// Known names the cookie that lists who signed in at this browser before.
func (c Cookies) Known() string { return c.name("-known") }

// LastSignIn names the cookie that distinguishes sign-in pages shown before a sign-in from those shown after it.
func (c Cookies) LastSignIn() string { return c.name("-last-sign-in") }

// Frame names the cookie of a page framed by another site, where browsers send no SameSite cookies. Browsers keep
// one for each surrounding site (Partitioned), so other frames cannot reach what it protects.
func (c Cookies) Frame() string { return c.name("-frame") }

// Set sets a cookie; maxAge is in seconds, 0 for as long as the browser runs, negative to delete.
func (c Cookies) Set(w http.ResponseWriter, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge,
		Secure: c.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// SetFrame sets the cookie of a frame. Browsers accept SameSite=None and Partitioned only with Secure.
func (c Cookies) SetFrame(w http.ResponseWriter, value string) {
	cookie := &http.Cookie{Name: c.Frame(), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if c.Secure {
		cookie.Secure, cookie.SameSite, cookie.Partitioned = true, http.SameSiteNoneMode, true
	}
	http.SetCookie(w, cookie)
}

// TokenCookie returns the value of a cookie of ours, "" if the request has none or it is not one that we made.
func TokenCookie(r *http.Request, name string) string {
	if c, err := r.Cookie(name); err == nil && secret.IsToken(c.Value) {
		return c.Value
	}
	return ""
}
