package authserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// The kinds of things a button of the account page can name.
const (
	useAccount = "account"
	anApp      = "application"
	aSession   = "session"
	doOthers   = "others"
	doAll      = "everything"
)

// endPatience bounds an end whose browser has gone.
const endPatience = 30 * time.Second

// withdrawalsOfUser bounds how often a user takes back what clients were allowed: each time
// leaves a notice in the store for as long as access tokens live.
var withdrawalsOfUser = lockout.Rule{Limit: 60, Window: time.Minute}

var errNotYours = refusal.New(http.StatusNotFound, refusal.NotFound, "")

// accountGet shows, to whoever is signed in, what they have allowed and where they are
// signed in. A GET changes nothing.
func (s *signIn) accountGet(w http.ResponseWriter, r *http.Request) error {
	b, err := s.welcome(w, r)
	if err != nil {
		return err
	}
	who, err := s.whoMay(r)
	if err != nil {
		return err
	}
	if who == nil {
		return s.showLogin(w, r, b, loginPage{})
	}
	return s.showAccount(w, r, b, who, "")
}

// accountPost does what one button says. The form's token names the user who saw the
// page, as on the consent page; who is no longer signed in signs in and looks again.
func (s *signIn) accountPost(w http.ResponseWriter, r *http.Request) error {
	b, form, err := s.receive(r)
	if err != nil {
		return err
	}
	who, err := s.whoMay(r)
	if err != nil {
		return err
	}
	if who == nil {
		return s.showLogin(w, r, b, loginPage{})
	}
	if !b.checkToken(form.Get("token"), useAccount, who.user.ID) {
		return errForbidden
	}
	done, err := s.press(w, r, b, form, who)
	if err != nil || done == "" {
		return err
	}
	return s.showAccount(w, r, b, who, done)
}

// press does what a button is for. done is what the page says afterwards, "" when the
// answer is written already.
func (s *signIn) press(w http.ResponseWriter, r *http.Request, b browser, form httpx.Form, who *person) (done string, err error) {
	subject := who.user.ID
	// What is half ended is not over because a browser went away.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), endPatience)
	defer cancel()
	switch all := form.Get("all"); {
	case form.Get("withdraw") != "":
		client, ok := b.opens(form.Get("withdraw"), anApp, subject)
		if !ok {
			return "", errNotYours
		}
		if err := s.take("end:"+subject, withdrawalsOfUser); err != nil {
			return "", err
		}
		if err := s.EndClient(ctx, subject, client); err != nil {
			return "", err
		}
		s.Audit.Record(r.Context(), audit.Event{Name: audit.ConsentRevoked, Client: client, Subject: subject})
		return "withdrawn", nil
	case form.Get("end") != "":
		digest, ok := b.opens(form.Get("end"), aSession, subject)
		if !ok {
			return "", errNotYours
		}
		if err := s.endSession(r, subject, digest); err != nil {
			return "", err
		}
		if digest == who.digest {
			return "", s.leave(w, r, false)
		}
		return "ended", nil
	case all == doOthers:
		return "others", s.each(ctx, store.KindSession, subject, func(rec store.Record) error {
			if rec.ID == who.digest {
				return nil
			}
			if err := s.Store.Delete(ctx, rec.Key); err != nil {
				return err
			}
			s.Audit.Record(ctx, audit.Event{Name: audit.SignOut, Subject: subject})
			return nil
		})
	case all == doAll:
		if err := s.EndSubject(ctx, subject); err != nil {
			return "", err
		}
		return "", s.leave(w, r, true)
	}
	return "", oauth.E(oauth.InvalidRequest, "none of the page's buttons was pressed")
}

// endSession ends one session of the user. That it is gone already is no error: the page
// may have been open for long.
func (s *signIn) endSession(r *http.Request, subject, digest string) error {
	key := store.Key{Kind: store.KindSession, ID: digest}
	var v store.Session
	_, err := store.Read(r.Context(), s.Store, key, &v)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if v.Subject != subject {
		return errNotYours
	}
	if err := s.Store.Delete(r.Context(), key); err != nil {
		return err
	}
	s.Audit.Record(r.Context(), audit.Event{Name: audit.SignOut, Subject: subject})
	return nil
}

// leave answers in a browser whose session has ended.
func (s *signIn) leave(w http.ResponseWriter, r *http.Request, everywhere bool) error {
	s.setCookie(w, s.sessionCookie(), "", -1)
	s.Pages.Logout(w, http.StatusOK, webui.LogoutView{
		Form: webui.Form{Lang: s.Pages.Language(r, "")}, Done: true, Everywhere: everywhere, Account: s.base + page.AccountPath,
	})
	return nil
}

// whoMay is whoIs without users who are locked: there is nothing for them here.
func (s *signIn) whoMay(r *http.Request) (*person, error) {
	who, err := s.whoIs(r)
	if who != nil && who.user.Locked {
		return nil, err
	}
	return who, err
}

// seals gives a button's value: readable for us alone, and of use only in this browser
// and to this user.
func (b browser) seals(value, kind, subject string) string {
	return b.keys.Seal(useAccount, []byte(value), boundTo(b.id, kind, subject))
}

// opens undoes seals; ok is false for what was made for another user, browser or button.
func (b browser) opens(sealed, kind, subject string) (value string, ok bool) {
	plain, err := b.keys.Open(useAccount, sealed, boundTo(b.id, kind, subject))
	return string(plain), err == nil
}

// boundTo frames its parts by digests, so that no two lists of parts give the same.
func boundTo(parts ...string) []byte {
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(secret.Digest(p))
	}
	return []byte(all.String())
}
