package password

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// charge is a key under which an attempt is counted, and its rule.
type charge struct {
	key  string
	rule lockout.Rule
}

// charges are the keys under which one attempt was counted.
type charges struct {
	book  *lockout.Book
	keys  []string
	retry time.Duration // after countAll returned false: how long the refused key has to wait
}

// countAll counts the attempt under each key, or under none if one of them is refused.
func (c *charges) countAll(of ...charge) (ok bool) {
	for i, one := range of {
		if ok, c.retry = c.book.Take(one.key, one.rule); !ok {
			for _, taken := range of[:i] {
				c.book.Return(taken.key)
			}
			return false
		}
	}
	for _, one := range of {
		c.keys = append(c.keys, one.key)
	}
	return true
}

// refusedFor is how long countAll would refuse, 0 if it would not. It counts nothing.
func (c *charges) refusedFor(of ...charge) time.Duration {
	for _, one := range of {
		if refused, retry := c.book.Refused(one.key, one.rule); refused {
			return retry
		}
	}
	return 0
}

// giveBack undoes all counts of the attempt.
func (c *charges) giveBack() {
	for _, key := range c.keys {
		c.book.Return(key)
	}
	c.keys = nil
}

// newlyRefused reports whether this attempt locked a name, a user or a browser.
func (c *charges) newlyRefused() (yes bool) {
	for _, key := range c.keys {
		if !strings.HasPrefix(strings.TrimPrefix(key, lateKey("")), "addr:") && c.book.NewlyRefused(key) {
			yes = true
		}
	}
	return yes
}

// failuresOfNetwork is how many times as much as one address an IPv6 network of this prefix length may get wrong.
// Around a customer's /64 the larger networks count too: a /48 has 65,536 of them, and whoever fails from each would
// lock as many names as the book has room for. A /32 may be all of a telephone company.
var failuresOfNetwork = map[int]int{56: 2, 48: 8, 32: 128}

// addressCharges are the charges of an address and of the networks around it.
func (c *Checker) addressCharges(address string) []charge {
	rule := lockout.Rule{Limit: c.PerAddress, Window: time.Minute}
	of := []charge{{"addr:" + httpx.AddressKey(address), rule}}
	for _, network := range fairshare.From(address).Networks() {
		if times := failuresOfNetwork[network.Bits()]; times > 0 && !network.Addr().Is4() {
			wide := rule
			wide.Limit *= times
			of = append(of, charge{"addr:" + network.String(), wide})
		}
	}
	return of
}

// accountCharges are the charges of the name as typed and of the user it belongs to ("": unknown).
func (c *Checker) accountCharges(username, subject string) []charge {
	of := []charge{{accountKey(username), c.Account}}
	if subject != "" {
		of = append(of, charge{subjectKey(subject), c.Account})
	}
	return of
}

// knownCharges are the charges of a browser that signed the user in before, and of all such browsers of the user.
func (c *Checker) knownCharges(k *Known) []charge {
	together := c.Account
	together.Limit *= knownTogether
	return []charge{{knownKey(k.Browser, k.Subject), c.Account}, {knownKey("", k.Subject), together}}
}

// knownKey is the key of a browser at which a user signed in, or without a browser of all of them. The user is there as
// a digest, however long the ID: the Book keeps longer keys in a form in which EndLockout would not find them.
func knownKey(browser, subject string) string { return "known:" + browser + knownSuffix(subject) }

func knownSuffix(subject string) string {
	return "|" + base64.RawURLEncoding.EncodeToString(secret.Sum("known browser of", []byte(subject))[:16])
}

// accountKey and subjectKey are the keys of a name as it was typed, and of a user of the directory, who may have many
// names. The prefixes differ, because one user's name may be another user's ID.
func accountKey(username string) string { return "user:" + directory.FoldUsername(username) }
func subjectKey(id string) string       { return "subject:" + id }

// lateKind begins the keys of attempts that the directory did not answer in time, or not clearly.
const lateKind = "late"

func lateKey(key string) string { return lateKind + ":" + key }

// lateCharges are the charges for such an attempt, which has these for a failure.
func lateCharges(of []charge) []charge {
	late := make([]charge, len(of))
	for i, one := range of {
		late[i] = charge{lateKey(one.key), one.rule}
	}
	return late
}

// EndLockout forgets on this node what was counted for a user, at known browsers and elsewhere. The counts of addresses
// and of other names of the user stay.
func (c *Checker) EndLockout(subject, username string) {
	for _, key := range []string{subjectKey(subject), accountKey(username)} {
		c.Attempts.Forget(key)
		c.Attempts.Forget(lateKey(key))
	}
	for _, kind := range []string{"known", lateKind} {
		c.Attempts.ForgetSuffix(kind, knownSuffix(subject))
	}
}
