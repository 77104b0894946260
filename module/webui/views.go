package webui

// The views are what the pages show. They hold decided facts and finished texts;
// every string is escaped by the templates. Lang is a tag that [Pages.Language]
// returned.

// Form is the part all forms share. Every form posts to Action.
type Form struct {
	Lang   string
	Action string // absolute path on the issuer's host
	// Token ties the form to the browser's cookie (against cross-site requests).
	Token string
	// Request is the sealed sign-in in progress, "" outside of one.
	Request string
}

// LoginView is the sign-in page.
type LoginView struct {
	Form
	Client   string // name of the application that asks, "" outside of a request
	Username string // what was typed before or hinted
	// Failed says that the last attempt was refused. One text for every reason.
	Failed bool
	// Limited says: too many attempts, try later.
	Limited bool
}

// ConsentView is the consent page.
type ConsentView struct {
	Form
	Client   string
	Host     string // where the browser goes afterwards
	User     string // who is signed in
	Scopes   []ScopeView
	Remember bool // whether the answer will be remembered, which the page says
}

// ScopeView is one permission asked for.
type ScopeView struct {
	Name string
	Text string // in the page's language
}

// LogoutView asks for confirmation, or says it is done.
type LogoutView struct {
	Form
	User string
	Done bool
}

// ErrorView is a page for what cannot be answered otherwise.
type ErrorView struct {
	Lang string
	// Code selects heading and text from the translations: "invalid_request",
	// "unknown_client", "invalid_redirect_uri", "expired", "already_answered",
	// "forbidden", "not_found", "method_not_allowed", "too_large", "too_many", "unavailable", "server_error",
	// "plaintext".
	Code string
	// Detail is a sentence for the developer of the client; never request data.
	Detail string
	// Retry is a same-origin path for "start again", "" for none.
	Retry string
}
