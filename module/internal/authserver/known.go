package authserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// A browser that signed somebody in keeps a cookie that says so ("device cookie" at OWASP),
// also after signing out. Wrong passwords that come with it have counts of their own, so
// that strangers who lock a person out do not lock out the person's browsers, and whoever
// steals a cookie has the few guesses of one browser and nothing else.
const (
	// maxKnown is how many people one browser is remembered for.
	maxKnown = 5
	// maxKnownCookie bounds the cookie, in bytes; browsers keep 4 KiB.
	maxKnownCookie = 3 << 10
	// knownTogether is how many times the limit of one browser all browsers of a person
	// have together: who once had the password may have collected cookies.
	knownTogether = 5
)

// knownPerson is one of those who signed in at a browser. Nobody but the gateway reads it.
type knownPerson struct {
	Subject string `json:"s"`
	Name    []byte `json:"n"` // digest of the name that was typed last
	Browser string `json:"b"` // random, the browser's name in counts
	Epoch   int64  `json:"e"` // of the sign-in: a later end of the subject ends this too
	Since   int64  `json:"t"` // of the sign-in, in seconds
}

// knownLife is how long a browser is remembered after a sign-in: no longer than the end of
// a subject is.
func (s *signIn) knownLife() time.Duration { return s.Lifetimes.Refresh }

// knownPeople returns who signed in at the browser of a request.
func (s *signIn) knownPeople(r *http.Request, keys *secret.Keys) []knownPerson {
	c, err := r.Cookie(s.knownCookie())
	if err != nil || len(c.Value) > maxKnownCookie {
		return nil
	}
	plain, err := keys.Open(useKnown, c.Value, nil)
	if err != nil {
		return nil
	}
	var all []knownPerson
	if json.Unmarshal(plain, &all) != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(k knownPerson) bool {
		return !s.Now().Before(time.Unix(k.Since, 0).Add(s.knownLife()))
	})
}

// rememberBrowser adds a person to those whom the browser is known for.
func (s *signIn) rememberBrowser(w http.ResponseWriter, r *http.Request, keys *secret.Keys, username, subject string, epoch int64) error {
	k := knownPerson{Subject: subject, Name: nameDigest(keys, username), Browser: secret.ID(), Epoch: epoch, Since: s.Now().Unix()}
	all := s.knownPeople(r, keys)
	if i := slices.IndexFunc(all, func(o knownPerson) bool { return o.Subject == subject }); i >= 0 {
		k.Browser = all[i].Browser // a new name would be a new count
		all = slices.Delete(all, i, i+1)
	}
	all = slices.Insert(all, 0, k)
	for n := min(len(all), maxKnown); n > 0; n-- {
		plain, err := json.Marshal(all[:n])
		if err != nil {
			return err
		}
		if sealed := keys.Seal(useKnown, plain, nil); len(sealed) <= maxKnownCookie {
			s.setCookie(w, s.knownCookie(), sealed, int(s.knownLife()/time.Second))
			return nil
		}
	}
	return nil
}

// vouches returns the entry for a name that was typed as it was at the last sign-in.
func vouches(all []knownPerson, keys *secret.Keys, username string) *knownPerson {
	digest := nameDigest(keys, username)
	for i := range all {
		if secret.Equal(all[i].Name, digest) {
			return &all[i]
		}
	}
	return nil
}

// knownAs returns the entry for whom the name leads to, or, where the directory cannot tell
// before the password, for the name itself. Signing out everywhere, a changed password and
// the like end it.
func (s *signIn) knownAs(ctx context.Context, a attempted, subject string) (*knownPerson, error) {
	k := a.vouched
	if subject != "" {
		i := slices.IndexFunc(a.known, func(k knownPerson) bool { return k.Subject == subject })
		if i < 0 {
			return nil, nil
		}
		k = &a.known[i]
	}
	if k == nil {
		return nil, nil
	}
	ended, err := ending.Ended(ctx, s.Store, k.Subject, "", store.Epochs{Subject: k.Epoch})
	if err != nil || ended {
		return nil, err
	}
	return k, nil
}

// knownBrowser counts the attempt for a browser that signed the person in before, and for
// all such browsers of the person.
func (c *charges) knownBrowser(r lockout.Rule, k *knownPerson) (ok bool) {
	together := r
	together.Limit *= knownTogether
	return c.all(
		charge{"known:" + k.Browser + "|" + k.Subject, r},
		charge{"known:|" + k.Subject, together},
	)
}

// nameDigest stands for a name that was typed. It is keyed, so that nobody finds the name
// by trying without the gateway's secret.
func nameDigest(keys *secret.Keys, username string) []byte {
	return keys.MAC(useTypedName, []byte(directory.FoldUsername(username)))[:12]
}

func printableDigest(digest []byte) string {
	return "hmac:" + base64.RawURLEncoding.EncodeToString(digest)
}
