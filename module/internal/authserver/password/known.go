package password

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/ending"
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
	// have together: somebody who once had the password may have collected cookies.
	knownTogether = 5

	useKnown = "known browser" // of the keys' secret
)

// Known is one of those who signed in at a browser. Only the gateway can read it.
type Known struct {
	Subject string `json:"s"`
	Name    []byte `json:"n"` // digest of the name that was typed last
	Browser string `json:"b"` // random, the browser's name in counts
	Epoch   int64  `json:"e"` // of the sign-in: a later end of the subject ends this too
	Since   int64  `json:"t"` // of the sign-in, in seconds
}

// KnownBrowsers remembers who signed in at a browser. All fields are needed.
type KnownBrowsers struct {
	Cookies session.Cookies
	Now     func() time.Time
	// Life is how long a browser is remembered after a sign-in: no longer than the end of a
	// subject is.
	Life time.Duration
}

// People returns who signed in at the browser of a request.
func (k KnownBrowsers) People(r *http.Request, keys *secret.Keys) []Known {
	c, err := r.Cookie(k.Cookies.Known())
	if err != nil || len(c.Value) > maxKnownCookie {
		return nil
	}
	plain, err := keys.Open(useKnown, c.Value, nil)
	if err != nil {
		return nil
	}
	var all []Known
	if json.Unmarshal(plain, &all) != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(one Known) bool {
		return !k.Now().Before(time.Unix(one.Since, 0).Add(k.Life))
	})
}

// Remember adds a person to those whom the browser is known for.
func (k KnownBrowsers) Remember(w http.ResponseWriter, r *http.Request, keys *secret.Keys, username, subject string, epoch int64) error {
	one := Known{Subject: subject, Name: nameDigest(keys, username), Browser: secret.ID(), Epoch: epoch, Since: k.Now().Unix()}
	all := k.People(r, keys)
	if i := slices.IndexFunc(all, func(o Known) bool { return o.Subject == subject }); i >= 0 {
		one.Browser = all[i].Browser // a new name would be a new count
		all = slices.Delete(all, i, i+1)
	}
	all = slices.Insert(all, 0, one)
	for n := min(len(all), maxKnown); n > 0; n-- {
		plain, err := json.Marshal(all[:n])
		if err != nil {
			return err
		}
		if sealed := keys.Seal(useKnown, plain, nil); len(sealed) <= maxKnownCookie {
			k.Cookies.Set(w, k.Cookies.Known(), sealed, int(k.Life/time.Second))
			return nil
		}
	}
	return nil
}

// VouchesFor returns the entry for a name that was typed as it was at the last sign-in.
func VouchesFor(all []Known, keys *secret.Keys, username string) *Known {
	digest := nameDigest(keys, username)
	for i := range all {
		if secret.Equal(all[i].Name, digest) {
			return &all[i]
		}
	}
	return nil
}

// knownAs returns the entry for whom the name leads to, or, where the directory cannot tell
// before the password, for the name itself. Signing out everywhere, a changed password and the
// like end it.
func (c *Checker) knownAs(ctx context.Context, a Attempt, subject string) (*Known, error) {
	k := a.Vouched
	if subject != "" {
		i := slices.IndexFunc(a.Known, func(k Known) bool { return k.Subject == subject })
		if i < 0 {
			return nil, nil
		}
		k = &a.Known[i]
	}
	if k == nil {
		return nil, nil
	}
	ended, err := ending.Ended(ctx, c.Store, k.Subject, "", store.Epochs{Subject: k.Epoch})
	if err != nil || ended {
		return nil, err
	}
	return k, nil
}
