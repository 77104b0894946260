package page

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Writer answers browsers. All fields are needed.
type Writer struct {
	Site  Site
	Pages *webui.Pages
	Log   *slog.Logger
	// RequestID returns what the logs call a request, for error pages to show; "" for none.
	RequestID func(*http.Request) string
}

// Handler answers a browser's request, or returns an error that [Writer.Handle] answers.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Handle makes an http.HandlerFunc of the handlers for POST and for all other methods. Either may be nil if the
// route does not allow its methods.
func (p *Writer) Handle(get, post Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := get
		if r.Method == http.MethodPost {
			h = post
		}
		if err := h(w, r); err != nil {
			p.fail(w, r, err)
		}
	}
}

// Script serves a file of our pages.
func (p *Writer) Script(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { p.Pages.Script(w, r, name) }
}

// The paths of the pages and scripts, below the issuer's.
const (
	AuthorizePath        = "/authorize"
	LoginPath            = "/login"
	ConsentPath          = "/consent"
	LogoutPath           = "/logout"
	AccountPath          = "/account"
	LanguagePath         = "/connect/language"
	ConnectAuthorizePath = "/connect/oauth2/authorize"
	ConfirmPath          = "/connect/confirm"
	QRPath               = "/connect/qrconnect"
	QRPollPath           = "/connect/l/qrconnect"
	QRImages             = "/connect/qrcode/"
	TimesScript          = "/connect/times.js"
	WaitScript           = "/connect/wait.js"
	LoginScript          = "/connect/login.js"
	// DevicePath is where users type a short code. It is printed in manuals and must not change.
	DevicePath = "/device"
)

// Site is where the pages are. All of it comes from the configured issuer, nothing from request headers, which an
// attacker can choose.
type Site struct {
	issuer string // absolute, without a trailing slash
	Base   string // the issuer's path, "" for none
	Origin string // of the issuer, as browsers write it
	HTTPS  bool
}

// NewSite returns the site of an issuer.
func NewSite(issuer *url.URL) Site {
	return Site{
		issuer: strings.TrimSuffix(issuer.String(), "/"), Base: strings.TrimSuffix(issuer.Path, "/"),
		Origin: oauth.Origin(issuer), HTTPS: issuer.Scheme == "https",
	}
}

// URL returns the absolute address of one of our paths.
func (s Site) URL(path string) string { return s.issuer + path }
