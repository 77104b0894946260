package password

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// A browser at which somebody signed in keeps a cookie that says so (OWASP's "device cookie"), also after signing out.
// Wrong passwords sent with it have counts of their own, so that attackers who lock a user out do not lock the user's
// browsers out, and a stolen cookie is worth only the few guesses of one browser.
const (
	// maxKnown is how many users one browser is remembered for.
	maxKnown = 5
	// maxKnownCookie bounds the cookie, in bytes; browsers keep 4 KiB.
	maxKnownCookie = 3 << 10
	// knownTogether is the limit of all browsers of a user together, as a multiple of that of one browser: somebody who
	// once had the password may have collected cookies.
	knownTogether = 5

	// Of the keys' secret.
	useKnown    = "known browser"
	useSpelling = "spelling of a name"
)

// Known is a user who signed in at a browser. Only the gateway can read it.
type Known struct {
	Subject string `json:"s"`
	Name    []byte `json:"n"` // digest of the name that was typed last
	Browser string `json:"b"` // random, the browser's name in counts
	Epoch   int64  `json:"e"` // of the sign-in: a later end of the subject ends this too
	Since   int64  `json:"t"` // of the sign-in, in seconds
}

// KnownUsers returns who signed in at the browser of a request.
func (c *Checker) KnownUsers(r *http.Request, keys *secret.Keys) []Known {
	cookie, err := r.Cookie(c.Cookies().Known())
	if err != nil || len(cookie.Value) > maxKnownCookie {
		return nil
	}
	plain, err := keys.Open(useKnown, cookie.Value, nil)
	var all []Known
	if err != nil || json.Unmarshal(plain, &all) != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(one Known) bool {
		return !c.Now().Before(time.Unix(one.Since, 0).Add(c.KnownLife))
	})
}

// RememberBrowser adds a user to those for whom the browser is known.
func (c *Checker) RememberBrowser(w http.ResponseWriter, r *http.Request, keys *secret.Keys, username, subject string, epoch int64) error {
	one := Known{Subject: subject, Name: spellingDigest(keys, username), Browser: secret.ID(), Epoch: epoch, Since: c.Now().Unix()}
	all := c.KnownUsers(r, keys)
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
			c.Cookies().Set(w, c.Cookies().Known(), sealed, int(c.KnownLife/time.Second))
			return nil
		}
	}
	return nil
}

// VouchesFor returns the entry whose user last typed this name, nil if there is none.
func VouchesFor(all []Known, keys *secret.Keys, username string) *Known {
	digest := spellingDigest(keys, username)
	for i := range all {
		if secret.Equal(all[i].Name, digest) {
			return &all[i]
		}
	}
	return nil
}

// spellingDigest stands for a name as it was typed. One that differs in letter case or accents may be another user's,
// whose password nobody may guess with the counts of this one.
func spellingDigest(keys *secret.Keys, username string) []byte {
	name, _ := directory.Typed(username)
	return keys.MAC(useSpelling, []byte(name))[:12]
}

// findKnown returns the entry of the user or, if the directory cannot tell the user before the password, that of the
// name. Signing out everywhere, a changed password and the like end it.
func (c *Checker) findKnown(ctx context.Context, a Attempt, subject string, certain bool) (*Known, error) {
	k := a.Vouched
	if subject != "" && certain {
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
