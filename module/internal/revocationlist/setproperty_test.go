package revocationlist

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/store"
)

// notice is one revocation, as the naive model keeps it: for ever.
type notice struct {
	store.Revocation
	expires time.Time
	name    string
	folded  bool // it may have been, because more were alive than fit
}

func (n *notice) concerns(t *Token) bool {
	switch n.Of {
	case store.RevokeToken:
		return n.Value == t.ID
	case store.RevokeGrant:
		return n.Value == t.Grant
	case store.RevokeKey:
		return n.Value == t.KeyID
	case store.RevokeClient:
		return n.Value == t.Client && t.IssuedAt.Unix() <= n.At.Unix()
	case store.RevokeSubject:
		return n.Value == t.Subject && t.Epochs.Subject < n.Epoch
	default:
		return n.Value == store.PairID(t.Client, t.Subject) && t.Epochs.Pair < n.Epoch
	}
}

// mark is the name of what it folds into.
func (n *notice) mark() string { return string(store.RevokeClient) + n.Client }

// model knows what is revoked, and what may have been folded.
type model struct {
	*folding
	notices      []*notice
	noClient     map[string]bool   // names of which one notice named no client
	clientOfName map[string]string // of which one did
	tokens       []Token
	epoch        int64
	everyone     time.Time // until when tokens of everyone were issued that may be refused
}

const tokenLife = time.Hour

func (m *model) issue(t *rapid.T) {
	n := strconv.Itoa(len(m.tokens))
	m.tokens = append(m.tokens, Token{
		ID: "t" + n, Grant: "g" + n, KeyID: "k" + n, Subject: "u" + strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "user")),
		Client: "c" + strconv.Itoa(rapid.IntRange(0, 4).Draw(t, "client")), IssuedAt: m.now, Epochs: store.Epochs{Subject: m.epoch, Pair: m.epoch},
	})
}

// drawRevocation is mostly of a token or grant, half of them of tokens that live here, and mostly names its client.
func (m *model) drawRevocation(t *rapid.T) store.Revocation {
	of := Token{ID: "other" + strconv.Itoa(len(m.notices)), Grant: "other" + strconv.Itoa(len(m.notices)), Subject: "u9", Client: rapid.SampledFrom([]string{"c0", "c1", "c9"}).Draw(t, "client")}
	if len(m.tokens) > 0 && rapid.Bool().Draw(t, "of a token that was issued") {
		of = m.tokens[rapid.IntRange(0, len(m.tokens)-1).Draw(t, "token")]
	}
	client := of.Client
	if rapid.IntRange(0, 19).Draw(t, "without a client") == 0 {
		client = ""
	}
	switch kind := rapid.IntRange(0, 39).Draw(t, "kind"); {
	case kind < 20:
		return store.Revocation{Of: store.RevokeToken, Value: of.ID, Client: client}
	case kind < 36:
		return store.Revocation{Of: store.RevokeGrant, Value: of.Grant, Client: client}
	case kind == 36:
		return store.Revocation{Of: store.RevokeClient, Value: of.Client}
	case kind == 37 && len(m.tokens) > 0:
		return store.Revocation{Of: store.RevokeKey, Value: m.tokens[0].KeyID}
	case kind == 38:
		m.epoch++
		return store.Revocation{Of: store.RevokeSubject, Value: of.Subject, Epoch: m.epoch}
	default:
		m.epoch++
		return store.Revocation{Of: store.RevokePair, Value: store.PairID(of.Client, of.Subject), Epoch: m.epoch, Client: client}
	}
}

func (m *model) revoke(rv store.Revocation) {
	rv.At = m.now
	n := &notice{Revocation: rv, name: string(rv.Of) + rv.Value}
	m.noClient[n.name] = m.noClient[n.name] || n.Client == ""
	if n.Client == "" { // the set keeps what it was told first
		n.Client = m.clientOfName[n.name]
	}
	m.clientOfName[n.name] = n.Client
	if rv.Of != store.RevokeKey {
		n.expires = m.now.Add(tokenLife + 2*foldMargin)
	}
	m.add(kindOf(rv.Of), rv, n.expires, m.now)
	m.notices = append(m.notices, n)
	m.noteFolds()
}

// noteFolds finds out what may have been folded, by counting names: it never counts less than the set has.
func (m *model) noteFolds() {
	all, unnamed := make(map[string]bool), make(map[string]bool)
	for _, n := range m.notices {
		if !n.expires.IsZero() && n.expires.Add(foldMargin+time.Second).Before(m.now) {
			continue
		}
		all[n.name] = true
		if m.noClient[n.name] {
			unnamed[n.name] = true
		}
		if n.folded && n.Client != "" {
			all[n.mark()] = true
		}
	}
	if len(all) <= m.limit {
		return
	}
	for _, n := range m.notices {
		if n.folded = true; n.Client != "" {
			unnamed[n.mark()] = true
		}
	}
	if len(unnamed) >= m.limit-m.limit/remainder {
		m.everyone = m.now.Add(foldMargin)
	}
}

func (m *model) check(t *rapid.T) {
	if m.size > m.limit {
		t.Fatalf("%d are held", m.size)
	}
	for i := range m.tokens {
		token := &m.tokens[i]
		if m.now.Sub(token.IssuedAt) > tokenLife {
			continue
		}
		revoked := slices.ContainsFunc(m.notices, func(n *notice) bool { return n.concerns(token) })
		refused := m.revokes(token)
		if revoked && !refused {
			t.Fatalf("%+v was revoked and is accepted", token)
		}
		folded := !token.IssuedAt.After(m.everyone) || slices.ContainsFunc(m.notices, func(n *notice) bool {
			return n.folded && n.Client == token.Client && !token.IssuedAt.After(n.At.Add(foldMargin+time.Second))
		})
		if refused && !revoked && !folded {
			t.Fatalf("%+v is refused: nothing of its client was folded, and marks had room", token)
		}
	}
}

// Whatever is revoked, in whatever order and while the clock moves: no revoked token is accepted while it lives, and
// nothing is refused by folding but what is of the same client, as long as marks have room.
func TestSetMatchesANaiveModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{folding: newFolding(rapid.SampledFrom([]int{24, 60, 150}).Draw(t, "limit")), noClient: make(map[string]bool), clientOfName: make(map[string]string)}
		pace := rapid.SampledFrom([]time.Duration{0, time.Second, 20 * time.Second, 3 * time.Minute}).Draw(t, "pace")
		for range rapid.IntRange(1, 300).Draw(t, "operations") {
			switch op := rapid.IntRange(0, 99).Draw(t, "operation"); {
			case op < 15:
				m.issue(t)
			case op < 90:
				m.revoke(m.drawRevocation(t))
			case op < 98:
				m.prune(rapid.IntRange(0, 5).Draw(t, "prune"))
			default:
				m.now = m.now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "minutes")) * time.Minute)
			}
			m.now = m.now.Add(pace)
			m.check(t)
		}
	})
}
