package account

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/login"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/userrecords"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// The kinds of things a button of the page can name.
const (
	useAccount = "account" // of the keys' secret, and of the form's token
	anApp      = "application"
	aSession   = "session"
	endOthers  = "others"
	endAll     = "everything"
)

// endPatience bounds an end whose browser has gone.
const endPatience = 30 * time.Second

// withdrawalsOfUser bounds how often a user withdraws consent: each time leaves a notice in the
// store for as long as access tokens live.
var withdrawalsOfUser = lockout.Rule{Limit: 60, Window: time.Minute}

// Clients finds a client; ok is false for an unknown one, errors are technical.
type Clients interface {
	Client(ctx context.Context, id string) (c *oauth.Client, ok bool, err error)
}

// Ender ends what users have, see package signout.
type Ender interface {
	EndSubject(ctx context.Context, subject string) error
	EndClient(ctx context.Context, subject, client string) error
}

// Config is what an Endpoint needs; all of it.
type Config struct {
	Login      *login.Page
	Store      store.Backend
	Clients    Clients
	Ender      Ender
	Attempts   *lockout.Book
	ScopeTexts page.ScopeTexts
	Audit      audit.Sink
	Now        func() time.Time
	// RefreshIdle is how long a refresh token lives without use, and TokenLife the longest life
	// of any access token.
	RefreshIdle time.Duration
	TokenLife   func() time.Duration
}

// Endpoint answers /account.
type Endpoint struct{ Config }

// New returns an Endpoint.
func New(c Config) *Endpoint { return &Endpoint{c} }

// Home sends users who are signed in to the account page, and tells everybody else what this is.
func (e *Endpoint) Home(w http.ResponseWriter, r *http.Request) error {
	who, err := e.Login.Sessions.Unlocked(r)
	if err != nil {
		return err
	}
	base := e.Login.Site.Base
	if who != nil {
		page.Redirect(w, r, base+page.AccountPath)
		return nil
	}
	e.Login.Pages.Home(w, http.StatusOK, webui.HomeView{
		Lang: e.Login.Pages.Language(r, ""), Login: base + page.LoginPath, Metadata: base + "/.well-known/openid-configuration",
	})
	return nil
}

// Get shows, to whoever is signed in, what they have allowed and where they are signed in. It
// changes nothing.
func (e *Endpoint) Get(w http.ResponseWriter, r *http.Request) error {
	b, err := e.Login.Sessions.Welcome(w, r)
	if err != nil {
		return err
	}
	who, err := e.Login.Require(w, r, b, "")
	if who == nil {
		return err
	}
	return e.show(w, r, b, who, "")
}

// Post does what one button says. The form's token names the user who saw the page, as on the
// consent page; a user who is no longer signed in signs in and looks again.
func (e *Endpoint) Post(w http.ResponseWriter, r *http.Request) error {
	b, form, err := e.Login.Sessions.ReceiveForm(r)
	if err != nil {
		return err
	}
	who, err := e.Login.Require(w, r, b, "")
	if who == nil {
		return err
	}
	if !b.CheckToken(form.Get("token"), useAccount, who.User.ID) {
		return refusal.Forbid()
	}
	// What is half ended must be ended although the browser went away.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), endPatience)
	defer cancel()
	done, err := e.pressButton(ctx, b, form, who)
	switch {
	case err != nil:
		return err
	case done == doneHere || done == doneEverywhere:
		e.showSignedOut(w, r, done == doneEverywhere)
		return nil
	}
	return e.show(w, r, b, who, done)
}

// What the page says after a button was pressed: one of webui's words, or that this browser's
// session has ended.
const (
	doneHere       = "this session"
	doneEverywhere = "all sessions"
)

// pressButton does what a button is for.
func (e *Endpoint) pressButton(ctx context.Context, b session.Browser, form httpx.Form, who *session.SignedIn) (done string, err error) {
	subject := who.User.ID
	switch all := form.Get("all"); {
	case form.Get("withdraw") != "":
		client, ok := b.OpenFor(useAccount, form.Get("withdraw"), anApp, subject)
		if !ok {
			return "", errNotYours()
		}
		return "withdrawn", e.withdraw(ctx, subject, client)
	case form.Get("end") != "":
		digest, ok := b.OpenFor(useAccount, form.Get("end"), aSession, subject)
		if !ok {
			return "", errNotYours()
		}
		if err := e.endSession(ctx, subject, digest); err != nil || digest != who.Digest {
			return "ended", err
		}
		return doneHere, nil
	case all == endOthers:
		return "others", e.endOthers(ctx, who)
	case all == endAll:
		return doneEverywhere, e.Ender.EndSubject(ctx, subject)
	}
	return "", oauth.E(oauth.InvalidRequest, "none of the page's buttons was pressed")
}

func errNotYours() error { return refusal.New(http.StatusNotFound, refusal.NotFound, "") }

// withdraw withdraws everything that was allowed to a client.
func (e *Endpoint) withdraw(ctx context.Context, subject, client string) error {
	if err := refusal.Limited(e.Attempts.Take("end:"+subject, withdrawalsOfUser)); err != nil {
		return err
	}
	if err := e.Ender.EndClient(ctx, subject, client); err != nil {
		return err
	}
	e.Audit.Record(ctx, audit.Event{Name: audit.ConsentRevoked, Client: client, Subject: subject})
	return nil
}

// endOthers ends all sessions of the user but this one.
func (e *Endpoint) endOthers(ctx context.Context, who *session.SignedIn) error {
	return userrecords.Each(ctx, e.Store, store.KindSession, who.User.ID, func(rec store.Record) error {
		if rec.ID == who.Digest {
			return nil
		}
		if err := e.Store.Delete(ctx, rec.Key); err != nil {
			return err
		}
		e.Audit.Record(ctx, audit.Event{Name: audit.SignOut, Subject: who.User.ID})
		return nil
	})
}

// endSession ends one session of the user. A session that is gone already is no error: the page
// may have been open for long.
func (e *Endpoint) endSession(ctx context.Context, subject, digest string) error {
	key := store.Key{Kind: store.KindSession, ID: digest}
	var v store.Session
	_, err := store.Read(ctx, e.Store, key, &v)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if v.Subject != subject {
		return errNotYours()
	}
	if err := e.Store.Delete(ctx, key); err != nil {
		return err
	}
	e.Audit.Record(ctx, audit.Event{Name: audit.SignOut, Subject: subject})
	return nil
}

// showSignedOut answers in a browser whose session has ended.
func (e *Endpoint) showSignedOut(w http.ResponseWriter, r *http.Request, everywhere bool) {
	cookies := e.Login.Sessions.Cookies
	cookies.Set(w, cookies.Session(), "", -1)
	e.Login.Pages.Logout(w, http.StatusOK, webui.LogoutView{
		Form: webui.Form{Lang: e.Login.Pages.Language(r, "")}, Done: true, Everywhere: everywhere, Account: e.Login.Site.Base + page.AccountPath,
	})
}
