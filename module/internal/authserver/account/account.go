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

const (
	useAccount = "account" // of the keys' secret, and of the form's token
	// The kinds of buttons that name a record.
	kindApplication = "application"
	kindSession     = "session"
	// endPatience bounds the work of a button whose browser has gone.
	endPatience = 30 * time.Second
)

// withdrawalsOfUser bounds how often a user withdraws consent: each withdrawal leaves a notice in the store for as long
// as access tokens live.
var withdrawalsOfUser = lockout.Rule{Limit: 60, Window: time.Minute}

// Endpoint answers /account. All fields are needed.
type Endpoint struct {
	*login.Page
	Users      *Users
	ScopeTexts page.ScopeTexts
	// RefreshIdle is how long a refresh token lives without use, and TokenLife the longest life of any access token.
	RefreshIdle time.Duration
	TokenLife   func() time.Duration
}

// Home answers the issuer's own address: it redirects signed-in users to the account page, and shows everybody else what
// this server is.
func (e *Endpoint) Home(w http.ResponseWriter, r *http.Request) error {
	who, err := e.Unlocked(r)
	switch {
	case err != nil:
		return err
	case who != nil:
		page.Redirect(w, r, e.Site.Base+page.AccountPath)
	default:
		e.Pages.Home(w, http.StatusOK, webui.HomeView{
			Lang: e.Pages.Language(r, ""), Login: e.Site.Base + page.LoginPath, Metadata: e.Site.Base + "/.well-known/openid-configuration",
		})
	}
	return nil
}

// Get shows signed-in users what they have allowed and where they are signed in. It changes nothing.
func (e *Endpoint) Get(w http.ResponseWriter, r *http.Request) error {
	b, err := e.Welcome(w, r)
	if err != nil {
		return err
	}
	who, err := e.Require(w, r, b, "")
	if who == nil {
		return err
	}
	return e.show(w, r, b, who, "")
}

// Post does what a button says. The form's token names the user who saw the page, as on the consent page; a user who is
// no longer signed in signs in and sees the page again.
func (e *Endpoint) Post(w http.ResponseWriter, r *http.Request) error {
	b, form, err := e.ReceiveForm(r)
	if err != nil {
		return err
	}
	who, err := e.Require(w, r, b, "")
	if who == nil {
		return err
	}
	if !b.CheckToken(form.Get("token"), useAccount, who.User.ID) {
		return refusal.Forbid()
	}
	// Half an end must be completed even if the browser goes away.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), endPatience)
	defer cancel()
	done, err := e.pressButton(ctx, b, form, who)
	if err != nil {
		return err
	}
	if done != doneHere && done != doneEverywhere {
		return e.show(w, r, b, who, done)
	}
	e.Forget(w)
	e.Pages.Logout(w, http.StatusOK, webui.LogoutView{
		Form: webui.Form{Lang: e.Pages.Language(r, "")}, Done: true, Everywhere: done == doneEverywhere, Account: e.Site.Base + page.AccountPath,
	})
	return nil
}

// What pressButton returns, besides the values of webui.AccountView.Done, if the session of this browser has ended.
const (
	doneHere       = "this session"
	doneEverywhere = "all sessions"
)

// pressButton does what the pressed button says, and returns what was done.
func (e *Endpoint) pressButton(ctx context.Context, b session.Browser, form httpx.Form, who *session.SignedIn) (done string, err error) {
	subject := who.User.ID
	switch all := form.Get("all"); {
	case form.Get("withdraw") != "":
		client, ok := b.OpenFor(useAccount, form.Get("withdraw"), kindApplication, subject)
		if !ok {
			return "", errNotYours()
		}
		return "withdrawn", e.withdraw(ctx, subject, client)
	case form.Get("end") != "":
		digest, ok := b.OpenFor(useAccount, form.Get("end"), kindSession, subject)
		if !ok {
			return "", errNotYours()
		}
		if err := e.endSession(ctx, subject, digest); err != nil || digest != who.Digest {
			return "ended", err
		}
		return doneHere, nil
	case all == "others":
		return "others", e.endOthers(ctx, who)
	case all == "everything":
		return doneEverywhere, e.Users.EndSubject(ctx, subject)
	}
	return "", oauth.E(oauth.InvalidRequest, "none of the page's buttons was pressed")
}

func errNotYours() error { return refusal.New(http.StatusNotFound, refusal.NotFound, "") }

// withdraw withdraws everything that the user allowed a client.
func (e *Endpoint) withdraw(ctx context.Context, subject, client string) error {
	if err := refusal.Limited(e.Attempts.Take("end:"+subject, withdrawalsOfUser)); err != nil {
		return err
	}
	if err := e.Users.EndClient(ctx, subject, client); err != nil {
		return err
	}
	e.Audit.Record(ctx, audit.Event{Name: audit.ConsentRevoked, Client: client, Subject: subject})
	return nil
}

// endOthers ends all sessions of the user but this one.
func (e *Endpoint) endOthers(ctx context.Context, who *session.SignedIn) error {
	err := userrecords.Each(ctx, e.Store, store.KindSession, who.User.ID, func(rec store.Record) error {
		if rec.ID == who.Digest {
			return nil
		}
		return e.deleteSession(ctx, rec.Key, who.User.ID)
	})
	if err != nil {
		return err
	}
	return store.ConfirmList(ctx, e.Store, store.KindSession, who.User.ID)
}

// endSession ends one session of the user. A session that is gone already is no error: the page may have been open for
// a long time.
func (e *Endpoint) endSession(ctx context.Context, subject, digest string) error {
	key := store.Key{Kind: store.KindSession, ID: digest}
	var v store.Session
	_, err := store.Read(ctx, e.Store, key, &v)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return store.Confirm(ctx, e.Store, key)
	case err != nil:
		return err
	case v.Subject != subject:
		return errNotYours()
	}
	return e.deleteSession(ctx, key, subject)
}

func (e *Endpoint) deleteSession(ctx context.Context, key store.Key, subject string) error {
	if err := e.Store.Delete(ctx, key); err != nil {
		return err
	}
	e.Audit.Record(ctx, audit.Event{Name: audit.SignOut, Subject: subject})
	return nil
}
