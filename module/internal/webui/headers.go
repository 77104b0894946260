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
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if https {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	return h
}

// flowHeaders returns the header fields of pages that lead back to the client that sent the browser. They have no opener
// policy: the client may show them in a popup, and its own page at the end tells the client's window the outcome through
// window.opener, which is gone for good once any page on the way had such a policy.
func flowHeaders(security http.Header) http.Header {
	h := security.Clone()
	h.Del("Cross-Origin-Opener-Policy")
	return h
}
