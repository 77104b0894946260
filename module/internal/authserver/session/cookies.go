package session

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// Cookies names and sets the cookies of an issuer.
type Cookies struct {
	// Secure says that the issuer is https. A loopback http issuer goes without Secure cookies
	// and the prefix that demands them: Safari drops them there.
	Secure bool
}

func (c Cookies) name(name string) string {
	if c.Secure {
		return httpx.CookiePrefix + name
	}
	return name
}

// Browser is the cookie that ties all tabs of a browser together.
func (c Cookies) Browser() string { return c.name(httpx.CookieName + "-browser") }

// Session is the cookie of who is signed in.
func (c Cookies) Session() string { return c.name(httpx.CookieName) }

// Known is the cookie of who signed in at this browser before.
func (c Cookies) Known() string { return c.name(httpx.CookieName + "-known") }

// Frame is the cookie of a page in a frame of another site, where browsers send none that is
// for this site alone. They keep one for each surrounding site (Partitioned), so what it is for
// is out of reach of all other frames.
func (c Cookies) Frame() string { return c.name(httpx.CookieName + "-frame") }

// Set sets a cookie; maxAge is in seconds, 0 for as long as the browser runs, negative to delete.
func (c Cookies) Set(w http.ResponseWriter, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge,
		Secure: c.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// SetFrame sets the cookie of a frame. Without Secure, browsers take neither SameSite=None nor
// Partitioned.
func (c Cookies) SetFrame(w http.ResponseWriter, value string) {
	cookie := &http.Cookie{Name: c.Frame(), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if c.Secure {
		cookie.Secure, cookie.SameSite, cookie.Partitioned = true, http.SameSiteNoneMode, true
	}
	http.SetCookie(w, cookie)
}
