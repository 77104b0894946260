package page

import (
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/oauth"
)

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
	// DevicePath is where a short code is typed. It is printed in manuals and read out: it is
	// short and must not change.
	DevicePath = "/device"
)

// Site is where the pages are. All of it comes from the configured issuer, nothing from request
// headers: a Host header that somebody sends must not lead people elsewhere.
type Site struct {
	Issuer string // absolute, without a trailing slash
	Base   string // the issuer's path, "" for none
	Origin string // of the issuer, as browsers write it
	HTTPS  bool
}

// NewSite returns the site of an issuer.
func NewSite(issuer *url.URL) Site {
	return Site{
		Issuer: strings.TrimSuffix(issuer.String(), "/"), Base: strings.TrimSuffix(issuer.Path, "/"),
		Origin: oauth.Origin(issuer), HTTPS: issuer.Scheme == "https",
	}
}

// URL returns the absolute address of one of our paths.
func (s Site) URL(path string) string { return s.Issuer + path }
