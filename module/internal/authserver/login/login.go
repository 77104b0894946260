package login

import (
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/password"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Requests opens the authorization requests that users sign in for.
type Requests interface {
	// Resume opens a request that a form sent back to this browser. It refuses one that took too long or that its
	// client may no longer make.
	Resume(w http.ResponseWriter, r *http.Request, b session.Browser, sealed string) (Request, error)
}

// Request is an authorization request in progress at a browser.
type Request interface {
	ClientID() string
	// LoginView is how the login page shows the request.
	LoginView() View
	// Allows reports whether the request may be answered for a user who signed in at that time.
	Allows(who *session.SignedIn) bool
	// Continue answers the request for a user who has signed in.
	Continue(who *session.SignedIn) error
	// ShowAgain shows the page that the request has reached.
	ShowAgain() error
}

// Endpoint answers /login and stores the choice of a language. All fields are needed.
type Endpoint struct {
	*Page
	Passwords *password.Checker
	Requests  Requests
	// IsPage reports whether a path is a page of ours that a GET shows.
	IsPage func(path string) bool
	// ForClients reports whether a client may have sent the browser there.
	ForClients func(path string) bool
}

// Get shows the login page for a sign-in that no client asked for. It leads to the account page: nothing in the address
// says where to go, so it cannot be abused as an open redirector.
func (e *Endpoint) Get(w http.ResponseWriter, r *http.Request) error {
	b, err := e.Welcome(w, r)
	if err != nil {
		return err
	}
	who, err := e.SignedIn(r)
	if err != nil {
		return err
	}
	if who != nil {
		page.Redirect(w, r, e.Site.Base+page.AccountPath)
		return nil
	}
	return e.ShowLogin(w, r, b, View{})
}

// form is what the login page sent.
type form struct {
	username, password string
	next               string  // a path of ours, "" for none
	request            Request // nil for none
	view               View    // to show the page again
	outdated           bool    // somebody has signed in at this browser since the page was shown, or it was shown too long ago
}

// Post signs in and continues. A refused password is 401 for every reason alike, which tells password managers not to
// store it. There is no WWW-Authenticate: no registered scheme means "use the form", and Basic would open the browser's
// own dialogue.
func (e *Endpoint) Post(w http.ResponseWriter, r *http.Request) error {
	b, f, err := e.readForm(w, r)
	switch {
	case err != nil:
		if _, refused := refusal.From(err); !refused {
			e.Passwords.CountFault(r.Context(), err)
		}
		return err
	case f.outdated:
		return e.answerOutdated(w, r, f)
	}
	who, o, err := e.signIn(w, r, b, f)
	if err != nil {
		return err
	}
	address := slog.String("address", e.ClientIP(r))
	client := ""
	if f.request != nil {
		client = f.request.ClientID()
	}
	if o.Verdict != password.Accepted {
		e.Passwords.RecordFailure(r.Context(), f.username, o, client)
	}
	switch o.Verdict {
	case password.Accepted:
	case password.Limited:
		e.Log.Warn("sign-in limited", address)
		w.Header().Set("Retry-After", strconv.Itoa(oauth.Seconds(o.Retry)))
		f.view.Status, f.view.Limited = http.StatusTooManyRequests, true
		return e.ShowLogin(w, r, b, f.view)
	default:
		// Without the name: users type their password into that field.
		e.Log.Info("sign-in refused", slog.String("outcome", string(o.Verdict)), address)
		f.view.Status, f.view.Failed = http.StatusUnauthorized, true
		return e.ShowLogin(w, r, b, f.view)
	}
	e.Log.Info("signed in", slog.String("subject", o.User.ID), address)
	e.Audit.Record(r.Context(), audit.Event{Name: audit.SignIn, Subject: o.User.ID, Client: client})
	switch {
	case f.next != "":
		page.Redirect(w, r, f.next)
	case f.request == nil:
		page.Redirect(w, r, e.Site.Base+page.AccountPath)
	default:
		return f.request.Continue(who)
	}
	return nil
}

// readForm reads the form of the login page and what it was shown for.
func (e *Endpoint) readForm(w http.ResponseWriter, r *http.Request) (b session.Browser, f form, err error) {
	b, sent, err := e.ReceiveForm(r)
	if err != nil {
		return b, f, err
	}
	sealed := sent.Get("request")
	e.cutOpener(w, b, sealed)
	var ours bool
	if ours, f.outdated = e.checkFormToken(b, sent.Get("token")); !ours {
		return b, f, refusal.Forbid()
	}
	f.username, f.password = sent.Get("username"), sent.Get("password")
	if f.next, err = e.openNext(b, sealed); err != nil {
		return b, f, err
	}
	if sealed != "" && f.next == "" {
		if f.request, err = e.Requests.Resume(w, r, b, sealed); err != nil {
			return b, f, err
		}
		f.view = f.request.LoginView()
	}
	f.view.Sealed, f.view.Username = sealed, f.username
	return b, f, password.CheckSize(f.username, f.password)
}

// answerOutdated answers a form that was used or is old, such as one that a browser sends again when its user goes back and
// reloads. It ignores the password, and goes on for the user who is signed in, if that is the one whose name was typed.
// Anybody else, who had the page open for long or in another tab, gets a new form that says why: nobody must go on as another
// user than they named.
func (e *Endpoint) answerOutdated(w http.ResponseWriter, r *http.Request, f form) error {
	b, err := e.Welcome(w, r)
	if err != nil {
		return err
	}
	who, err := e.SignedIn(r)
	if err != nil {
		return err
	}
	var typed *password.Known
	if who != nil {
		typed = password.VouchesFor(e.Passwords.KnownUsers(r, b.Keys), b.Keys, f.username)
	}
	switch {
	case typed == nil, typed.Subject != who.User.ID, f.request != nil && !f.request.Allows(who):
		f.view.outdated = true
		return e.ShowLogin(w, r, b, f.view)
	case f.request != nil:
		return f.request.Continue(who)
	case f.next != "":
		page.Redirect(w, r, f.next)
	default:
		page.Redirect(w, r, e.Site.Base+page.LoginPath)
	}
	return nil
}

// signIn checks the password and begins a session. If the user is signed out everywhere meanwhile, the password may have
// been changed, so it is checked once more.
func (e *Endpoint) signIn(w http.ResponseWriter, r *http.Request, b session.Browser, f form) (*session.SignedIn, password.Outcome, error) {
	who, o, err := e.trySignIn(w, r, b, f)
	if err == nil && who == nil && o.Verdict == password.Accepted {
		who, o, err = e.trySignIn(w, r, b, f)
	}
	if err != nil {
		e.Passwords.CountFault(r.Context(), err)
		return nil, o, err
	}
	if who == nil && o.Verdict == password.Accepted {
		o.Verdict = password.Refused
	}
	e.Passwords.CountSignIn(string(o.Verdict))
	return who, o, nil
}

// trySignIn returns nil for a user with the right password who was signed out everywhere while it was checked.
func (e *Endpoint) trySignIn(w http.ResponseWriter, r *http.Request, b session.Browser, f form) (*session.SignedIn, password.Outcome, error) {
	epoch, err := ending.CurrentEpoch(r.Context(), e.Store) // before the password: see package ending
	if err != nil {
		return nil, password.Outcome{}, err
	}
	a := password.Attempt{
		Username: f.username, Password: f.password, Address: e.ClientIP(r), Known: e.Passwords.KnownUsers(r, b.Keys),
	}
	a.Vouched = password.VouchesFor(a.Known, b.Keys, f.username)
	o, err := e.Passwords.Check(r.Context(), a)
	if err != nil || o.Verdict != password.Accepted {
		return nil, o, err
	}
	who, err := e.Begin(w, r, o.User, epoch)
	if err == nil && who != nil {
		err = e.Passwords.RememberBrowser(w, r, b.Keys, f.username, o.User.ID, epoch)
	}
	return who, o, err
}
