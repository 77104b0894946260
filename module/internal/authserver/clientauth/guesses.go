package clientauth

import (
	"time"

	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const tooMany = "too many failed authentications of this client, try again later"

// guesses are the failed authentications of one client from one address. Only failures count, so that a client may send
// any number of requests at the same time.
type guesses struct {
	a       *Authenticator
	counted bool // the credentials are a secret or an assertion, which can be guessed
	// The keys of the client's count, of that of all clients at the address, and of that which clients share there
	// after many failures.
	own, all, shared string
}

func (a *Authenticator) guessesOf(sent *credentials, address string) *guesses {
	return &guesses{
		a: a, counted: sent.canGuess(),
		own: "client:" + sent.pairs[0].id + "|" + address, all: "clients:" + address, shared: "client:|" + address,
	}
}

func (g *guesses) perClient() lockout.Rule {
	return lockout.Rule{Limit: g.a.Failures, Window: time.Minute}
}

func (g *guesses) perAddress() lockout.Rule {
	return lockout.Rule{Limit: manyClients * g.a.Failures, Window: time.Minute}
}

// look returns the key that a failure is counted under, and whether and for how long that is refused.
func (g *guesses) look() (key string, refused bool, retry time.Duration) {
	if refused, retry = g.a.Attempts.Refused(g.own, g.perClient()); refused {
		return g.own, true, retry
	}
	if over, _ := g.a.Attempts.Refused(g.all, g.perAddress()); over {
		refused, retry = g.a.Attempts.Refused(g.shared, g.perClient())
		return g.shared, refused, retry
	}
	return g.own, false, 0
}

// refuse returns an error if too many have failed.
func (g *guesses) refuse() error {
	if !g.counted {
		return nil
	}
	if _, refused, retry := g.look(); refused {
		return oauth.TooMany(tooMany, retry)
	}
	return nil
}

// count counts a failure. It returns an error if there were too many before.
func (g *guesses) count() error {
	if !g.counted {
		return nil
	}
	key, _, _ := g.look()
	g.a.Attempts.Take(g.all, g.perAddress())
	if ok, retry := g.a.Attempts.Take(key, g.perClient()); !ok {
		return oauth.TooMany(tooMany, retry)
	}
	return nil
}
