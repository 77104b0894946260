// Package consent remembers what users have allowed clients, and decides what a remembered consent covers.
package consent

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// PageOf identifies what the consent page says about a client: its name, where the browser goes next, and whether the
// client gave itself that name. A consent is valid for this only: otherwise a client could register under a harmless
// name, and take another name or host once users have agreed.
func PageOf(client *oauth.Client, redirectURI string) string {
	to := page.Destination(redirectURI)
	if u, err := url.Parse(redirectURI); err == nil && client.Native && u.Scheme == "http" {
		to = u.Hostname() // loopback, where each run of the program has another port
	}
	kind := "configured"
	if client.SelfRegistered {
		kind = "self-registered"
	}
	return secret.Digest(string(session.JoinDigests(client.Title(), to, kind)))
}

// Key is where the consent of a user for a client is stored.
func Key(client, subject string) store.Key {
	return store.Key{Kind: store.KindConsent, ID: secret.Digest(client + "\x00" + subject)}
}

// Store keeps consents. All fields are needed.
type Store struct {
	Backend store.Backend
	Now     func() time.Time
}

// Given returns the remembered consent of a user for a client, the zero value if there is none.
func (s Store) Given(ctx context.Context, client, subject string) (store.Consent, error) {
	var v store.Consent
	_, err := store.Read(ctx, s.Backend, Key(client, subject), &v)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return v, err
}

// Stands reports whether a consent was neither withdrawn nor given to another client of the same id. pair is the epoch of
// client and user.
func Stands(given store.Consent, client *oauth.Client, pair int64) bool {
	return given.Pair >= pair && !given.GivenAt.Before(client.Since)
}

// Covers reports whether the user need not be asked for these scopes. pair is the epoch of client and user: a consent of
// an earlier epoch was withdrawn, even if it was written later.
func (s Store) Covers(ctx context.Context, client *oauth.Client, redirectURI string, scopes []string, subject string, pair int64) (bool, error) {
	if client.Trusted {
		return true, nil
	}
	if !client.RemembersConsent(redirectURI) {
		return false, nil
	}
	given, err := s.Given(ctx, client.ID, subject)
	return err == nil && Stands(given, client, pair) && given.Covers(PageOf(client, redirectURI), scopes), err
}

// Remember adds scopes to what the user has allowed the client on this page. pair is the epoch of both before the user
// allowed it.
func (s Store) Remember(ctx context.Context, client *oauth.Client, redirectURI string, scopes []string, subject string, pair int64) error {
	shown := PageOf(client, redirectURI)
	var given store.Consent
	_, err := store.Change(ctx, s.Backend, store.Record{Key: Key(client.ID, subject), Parent: subject}, &given, func(rec *store.Record) (bool, error) {
		if rec.Version == 0 {
			given = store.Consent{Client: client.ID, Subject: subject}
		}
		if given.Pair > pair { // another consent came after an end, or the end's record is gone
			now, err := ending.PairEpoch(ctx, s.Backend, client.ID, subject)
			if err != nil || now > pair {
				return false, err
			}
		}
		if given.GivenAt.Before(client.Since) || given.Pair < pair {
			given.Scopes, given.Pages = nil, nil // of another client with the same id, or withdrawn
		}
		if given.Covers(shown, scopes) {
			return false, nil
		}
		given = given.Allow(shown, scopes)
		given.GivenAt, given.Pair = s.Now(), max(given.Pair, pair)
		return true, nil
	})
	return err
}
