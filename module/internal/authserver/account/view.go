package account

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/userrecords"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// maxShown is how many applications and sessions the page lists: ending some makes room for the others, and
	// "everywhere" ends all.
	maxShown = 100
	// maxGrantsRead bounds what one view of the page reads. Each client has at most GrantsPerUser, and dead grants stay
	// until they are swept.
	maxGrantsRead = 2000
)

// show shows the account page; done is what the last button did.
func (e *Endpoint) show(w http.ResponseWriter, r *http.Request, b session.Browser, who *session.SignedIn, done string) error {
	lang, base := e.Pages.Language(r, ""), e.Site.Base
	v := webui.AccountView{
		Form: webui.Form{Lang: lang, Action: base + page.AccountPath, Token: b.Token(useAccount, who.User.ID)},
		User: who.User.Username, Name: page.DisplayName(who.User), Script: base + page.TimesScript, Origin: e.Site.Origin, Logout: base + page.LogoutPath, Done: done,
	}
	judge, err := ending.NewJudge(r.Context(), e.Store, who.User.ID)
	if err != nil {
		return err
	}
	allowed, more, err := e.listAllowed(r.Context(), who.User.ID, judge)
	if err != nil {
		return err
	}
	v.MoreApplications = more
	for _, a := range allowed {
		app := webui.ApplicationView{
			ID: b.SealFor(useAccount, a.client, kindApplication, who.User.ID), ClientID: a.client, Name: a.client, Since: a.since, Remembered: a.remembered,
		}
		client, ok, err := e.Clients.Client(r.Context(), a.client)
		if err != nil {
			return err
		}
		if ok {
			app.Name, app.Unverified = client.Title(), client.SelfRegistered
			app.Remembered = app.Remembered || client.Trusted
			app.Host = page.Destinations(client.RedirectURIs)
		}
		for _, name := range a.scopes {
			app.Scopes = append(app.Scopes, e.ScopeTexts.View(name, lang))
		}
		v.Applications = append(v.Applications, app)
	}
	if v.Sessions, v.MoreSessions, err = e.listSessions(r.Context(), b, who, judge); err != nil {
		return err
	}
	e.Pages.Account(w, http.StatusOK, v)
	return nil
}

// allowance is what a user has allowed one client.
type allowance struct {
	client     string
	since      time.Time
	scopes     []string
	remembered bool
}

// listAllowed lists what is remembered and what is in force: an application that has to ask each time still has access
// while one of its grants lives.
func (e *Endpoint) listAllowed(ctx context.Context, subject string, judge *ending.Judge) (list []allowance, more bool, err error) {
	byClient := make(map[string]*allowance)
	allow := func(client string, since time.Time, scopes []string) *allowance {
		a := byClient[client]
		if a == nil {
			a = &allowance{client: client, since: since}
			byClient[client] = a
		}
		if since.Before(a.since) {
			a.since = since
		}
		a.scopes = append(a.scopes, scopes...)
		return a
	}
	more, err = userrecords.UpTo(ctx, e.Store, store.KindConsent, subject, maxGrantsRead, func(rec store.Record) error {
		var v store.Consent
		err := store.Decode(rec.Value, &v)
		if err == nil {
			allow(v.Client, v.GivenAt, v.Scopes).remembered = true
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	moreGrants, err := userrecords.UpTo(ctx, e.Store, store.KindGrant, subject, maxGrantsRead, func(rec store.Record) error {
		var v store.Grant
		if err := store.Decode(rec.Value, &v); err != nil || !e.inForce(v) {
			return err
		}
		ended, err := judge.Ended(ctx, v.Client, v.Epochs)
		if err == nil && !ended {
			allow(v.Client, v.IssuedAt, v.Scopes)
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	for _, a := range byClient {
		slices.Sort(a.scopes)
		a.scopes = slices.Compact(a.scopes)
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b allowance) int {
		return cmp.Or(b.since.Compare(a.since), cmp.Compare(a.client, b.client))
	})
	return list[:min(len(list), maxShown)], more || moreGrants || len(list) > maxShown, nil
}

// inForce reports whether a grant can still give access, unless it was ended with its user.
func (e *Endpoint) inForce(g store.Grant) bool {
	if g.Revoked() {
		return false
	}
	refreshes := e.Now().Before(g.Expires) && (g.Dialect == store.DialectVariantB || e.Now().Sub(g.RotatedAt) < e.RefreshIdle)
	return refreshes || e.Now().Before(g.RotatedAt.Add(e.TokenLife()))
}

// place is what an address itself says about its location, see [webui.SessionView].
func place(address string) string {
	a, err := netip.ParseAddr(address)
	switch {
	case err != nil:
		return ""
	case a.Unmap().IsLoopback():
		return "loopback"
	case a.Unmap().IsPrivate() || a.IsLinkLocalUnicast():
		return "private"
	}
	return ""
}

// listSessions lists the live sessions of a user, this browser's first, then the last used ones.
func (e *Endpoint) listSessions(ctx context.Context, b session.Browser, who *session.SignedIn, judge *ending.Judge) ([]webui.SessionView, bool, error) {
	var list []webui.SessionView
	// A user may have more than session.Max for a moment after each sign-in.
	more, err := userrecords.UpTo(ctx, e.Store, store.KindSession, who.User.ID, 2*session.Max, func(rec store.Record) error {
		var v store.Session
		if err := store.Decode(rec.Value, &v); err != nil || !e.Now().Before(e.End(v)) {
			return err
		}
		if ended, err := judge.Ended(ctx, "", store.Epochs{Subject: v.Epoch}); err != nil || ended {
			return err
		}
		browser, system := page.BrowserName(v.UserAgent)
		list = append(list, webui.SessionView{
			ID: b.SealFor(useAccount, rec.ID, kindSession, who.User.ID), Browser: browser, System: system, Address: v.Address, Place: place(v.Address),
			Since: v.AuthTime, Idle: max(0, e.Now().Sub(v.LastSeen)), Current: rec.ID == who.Digest,
		})
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	slices.SortFunc(list, func(a, b webui.SessionView) int {
		switch {
		case a.Current:
			return -1
		case b.Current:
			return 1
		}
		return cmp.Or(cmp.Compare(a.Idle, b.Idle), a.Since.Compare(b.Since))
	})
	return list[:min(len(list), maxShown)], more || len(list) > maxShown, nil
}
