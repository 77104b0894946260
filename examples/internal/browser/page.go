package browser

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// Origin returns the origin of an address: an http or https URL without a slash at its end.
func Origin(name, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(address, "/") {
		return "", fmt.Errorf("the %s %q must be an http or https URL without a slash at its end", name, address)
	}
	return u.Scheme + "://" + u.Host, nil
}

// Site serves the routes of a site and its style sheet. /login leads to the origin issuer, and browsers hold a form's
// redirects to form-action as well. more are further directives of the Content-Security-Policy.
func Site(routes map[string]http.HandlerFunc, style, issuer, more string) http.Handler {
	header := http.Header{
		"Cache-Control":           {"no-store"},
		"X-Content-Type-Options":  {"nosniff"},
		"Referrer-Policy":         {"same-origin"}, // the address of the callback has a code in it
		"Content-Security-Policy": {"default-src 'none'; style-src 'self'; " + more + "form-action 'self' " + issuer + "; base-uri 'none'; frame-ancestors 'none'"},
	}
	mux := http.NewServeMux()
	for pattern, serve := range routes {
		mux.HandleFunc(pattern, serve)
	}
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=300")
		_, _ = w.Write([]byte(style))
	})
	protected := http.NewCrossOriginProtection().Handler(mux) // otherwise another site could sign a visitor out
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), header)
		protected.ServeHTTP(w, r)
	})
}
