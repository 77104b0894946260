package password

import (
	"net/netip"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
)

// charge is a key under which an attempt is counted, and its rule.
type charge struct {
	key  string
	rule lockout.Rule
}

// charges are the keys that one attempt was counted under.
type charges struct {
	book  *lockout.Book
	keys  []string
	retry time.Duration // after all returned false: how long the first refused key has to wait
}

// all counts the attempt under each key, or under none when one of them is refused.
func (c *charges) all(of ...charge) (ok bool) {
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

// refused is how long all would refuse, 0 when it would not. It counts nothing.
func (c *charges) refused(of ...charge) time.Duration {
	for _, one := range of {
		if refused, retry := c.book.Refused(one.key, one.rule); refused {
			return retry
		}
	}
	return 0
}

// account counts the attempt for the name as it was typed and for the user it leads to ("":
// unknown).
func (c *charges) account(r lockout.Rule, username, subject string) (ok bool) {
	of := []charge{{accountKey(username), r}}
	if subject != "" {
		of = append(of, charge{subjectKey(subject), r})
	}
	return c.all(of...)
}

// giveBack takes the attempt from all counts again.
func (c *charges) giveBack() {
	for _, key := range c.keys {
		c.book.Return(key)
	}
	c.keys = nil
}

// newlyRefused reports whether this attempt locked a name, a user or a browser.
func (c *charges) newlyRefused() (yes bool) {
	for _, key := range c.keys {
		if !strings.HasPrefix(key, "addr:") && c.book.NewlyRefused(key) {
			yes = true
		}
	}
	return yes
}

// addressCharges are those of an address. Around an IPv6 customer's /64 the larger networks
// count too: a /48 has 65,536 of them, and somebody who fails from each would lock as many names
// as the book has room for. A /32 may be all of a telephone company.
func (c *Checker) addressCharges(address string) []charge {
	rule := lockout.Rule{Limit: c.PerAddress, Window: time.Minute}
	of := []charge{{"addr:" + httpx.AddressKey(address), rule}}
	for _, network := range fairshare.From(address).Networks() {
		if times := failuresOfNetwork(network); times > 0 {
			wide := rule
			wide.Limit *= times
			of = append(of, charge{"addr:" + network.String(), wide})
		}
	}
	return of
}

// failuresOfNetwork is how many times as much as one address a network may get wrong, 0 for
// no limit.
func failuresOfNetwork(network netip.Prefix) int {
	if network.Addr().Is4() {
		return 0
	}
	switch network.Bits() {
	case 56:
		return 2
	case 48:
		return 8
	case 32:
		return 128
	}
	return 0
}

// knownBrowser counts the attempt for a browser that signed the user in before, and for all such
// browsers of the user.
func (c *charges) knownBrowser(r lockout.Rule, k *Known) (ok bool) {
	together := r
	together.Limit *= knownTogether
	return c.all(
		charge{"known:" + k.Browser + "|" + k.Subject, r},
		charge{"known:|" + k.Subject, together},
	)
}

// accountKey and subjectKey are under what failures are counted: a name as it was typed, and a
// user of the directory, who may have many names. The prefixes differ, since a user may be
// called what another one's ID is.
func accountKey(username string) string { return "user:" + directory.FoldUsername(username) }
func subjectKey(id string) string       { return "subject:" + id }
