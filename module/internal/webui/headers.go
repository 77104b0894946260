package webui

import "net/http"

// securityHeaders returns the header fields of every page.
//
// The policy has no form-action on purpose: Chrome also applies it to the redirects that answer a form, so it would
// block the way back to every client whose address is not listed. It would not help against injected forms, since
// base-uri and the escaping of the templates leave no way to inject one.
//
// The referrer stays within this origin. With no-referrer, browsers would send "Origin: null" with the gateway's own
// forms, and cross-site posts could not be recognized.
func securityHeaders(styleHash, logoOrigin string, https bool) http.Header {
	h := http.Header{}
	h.Set("Content-Security-Policy", "default-src 'none'; style-src '"+styleHash+"'; img-src 'self' data:"+logoOrigin+
		"; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	CutOpener(h)
	if https {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	return h
}

const (
	openerPolicy = "Cross-Origin-Opener-Policy"
	openerKept   = "unsafe-none"
	openerCut    = "same-origin"
)

// KeepOpener is for responses to what a client sent the browser for. The client may show them in a popup, and its own
// page at the end tells the client's window the outcome through window.opener, which is gone for good once any response
// on the way has cut it.
//
// It must depend on what a request is for, never on who is signed in: the site that opened a window sees whether the
// connection to it was cut.
func KeepOpener(h http.Header) { h.Set(openerPolicy, openerKept) }

// CutOpener is for all other responses. Pages cut it by themselves, redirects do not.
func CutOpener(h http.Header) { h.Set(openerPolicy, openerCut) }
