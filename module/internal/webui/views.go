package webui

import "time"

// The views are what the pages show. They contain decisions and finished texts; the templates escape every
// string. Lang is a tag that [Pages.Language] returned.

// Form is what all forms have in common. Every form posts to Action.
type Form struct {
	Lang   string
	Action string // absolute path on the issuer's host
	// Token binds the form to the browser's cookie (against cross-site requests).
	Token string
	// Request is the sealed sign-in in progress, or "".
	Request string
}

// LoginView is the sign-in page.
type LoginView struct {
	Form
	Client   string // name of the application that asks, "" outside of a request
	Username string // what was typed before or hinted
	// Unverified says that the application registered itself: nobody checked its name.
	Unverified bool
	// Failed says that the last attempt was refused. One text for every reason.
	Failed bool
	// Limited says: too many attempts, try later.
	Limited bool
	// Outdated says that the password was not checked: the page was old, or somebody has signed in at the browser since it was shown.
	Outdated bool
}

// ConsentView is the consent page.
type ConsentView struct {
	Form
	// Account is the path of the account page, where an answer can be taken back; "" for no link.
	Account  string
	ClientID string // chooses the colour of its tile
	Client   string
	Host     string // where the browser goes afterwards
	User     string // who is signed in
	Name     string // what that person is called, "" for nothing but User
	Scopes   []ScopeView
	Remember bool // whether the answer will be remembered, which the page says
	// Unverified says that the application registered itself: nobody checked its name.
	Unverified bool
}

// ScopeView is one permission asked for.
type ScopeView struct {
	Name string
	Text string // in the page's language
	// New says that the user has allowed the application others before, but not this one.
	New bool
}

// LogoutView asks for confirmation, or says it is done.
type LogoutView struct {
	Form
	User string
	Done bool
	// Client is the name of the application that asks, "" for none.
	Client string
	// Unverified says that the application registered itself: nobody checked its name.
	Unverified bool
	// Account is the path of the account page, "" for no link.
	Account string
	// Everywhere says that every browser and every application was signed out.
	Everywhere bool
}

// AccountView is the page on which people see and end what they have allowed and where they are signed in.
type AccountView struct {
	Form
	User string
	Name string // what that person is called, "" for nothing but User
	// Script is the path of times.js on Origin, which writes times in the reader's zone; without it they are in UTC.
	Script, Origin string
	// Logout is the path of the sign-out page.
	Logout string
	// Done says what the last press of a button did: "withdrawn" (an application's
	// access), "ended" (a session), "others" (all other sessions), "" for nothing.
	Done string
	// Applications and Sessions are those shown; More says that there are further ones.
	Applications     []ApplicationView
	MoreApplications bool
	Sessions         []SessionView
	MoreSessions     bool
}

// ApplicationView is an application that a user has allowed something.
type ApplicationView struct {
	ID       string // the value of its button, opaque
	ClientID string // chooses the colour of its tile
	Name     string
	Host     string // where people use it, several separated by commas, "" when unknown
	// Unverified says that the application registered itself: nobody checked its name.
	Unverified bool
	Since      time.Time
	Scopes     []ScopeView
	// Remembered says that it is not asked again for these permissions.
	Remembered bool
}

// SessionView is a browser that is signed in.
type SessionView struct {
	ID      string // the value of its button, opaque
	Browser string // name of the browser, "" when unknown
	System  string // name of the operating system, "" when unknown
	// Address is the network address that it was last used from, "" when unknown, and Place what is known of it
	// without asking anybody: "loopback" for this machine, "private" for the local network, "" for nothing.
	Address, Place string
	Since          time.Time
	Idle           time.Duration // since when it was not used
	Current        bool          // it is the one that looks at the page
}

// ErrorView is a page for what cannot be answered otherwise.
type ErrorView struct {
	Lang string
	// Code selects heading and text from the translations: "invalid_request", "unknown_client",
	// "invalid_redirect_uri", "expired", "already_answered", "forbidden", "not_found", "method_not_allowed",
	// "too_large", "too_slow", "too_many", "unavailable", "server_error", "plaintext"; of a request confirmed on
	// another device "gone" (expired), "taken" (scanned by somebody else), "unknown_code".
	Code string
	// Detail is a sentence for the developer of the client; never request data.
	Detail string
	// Sent is the redirect address as the application sent it, for its developer to compare.
	// The page shows the beginning of it as text; "" for nothing.
	Sent string
	// Retry is a same-origin path for "start again", "" for none.
	Retry string
	// RequestID is what the logs call the request, for a person to tell those who run the server; "" for none.
	RequestID string
	// Frames are the origins that may frame the page, none for nobody.
	Frames []string
}

// HomeView is the page at the issuer's own address, for whoever opens it without being sent there by an application.
type HomeView struct {
	Lang string
	// Login and Metadata are the paths of the sign-in page and of the discovery document.
	Login, Metadata string
}
