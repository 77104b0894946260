package grant

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// refreshNode is one node that replaces refresh tokens.
type refreshNode struct {
	*refreshToken
	link *link
}

func newRefreshNode(t *testing.T, m *storetest.Memory, keys *secret.Keys, grace time.Duration) *refreshNode {
	t.Helper()
	l := &link{Memory: m, plan: func(string) (fault, time.Duration, time.Duration) { return works, 0, 0 }}
	c := Config{
		Store: l, Directory: directorytest.NewMemory(directorytest.Seed{User: directory.User{ID: "u", Username: "u"}}),
		Revocations: deafRevoker{}, Passwords: anybody{}, Now: time.Now,
		Keys:   func(context.Context) (*secret.Keys, error) { return keys, nil },
		Access: time.Hour, Refresh: 24 * time.Hour, RefreshGrace: grace,
	}
	return &refreshNode{newRefreshToken(familiesOf(t, c)), l}
}

// beginFamily stores a family and returns its first refresh token.
func beginFamily(t *testing.T, m *storetest.Memory, keys *secret.Keys) (refresh, family string) {
	t.Helper()
	g := store.Grant{
		ID: secret.ID(), Dialect: store.DialectOAuth, Client: "c", Subject: "u", Scopes: []string{"read"},
		IssuedAt: time.Now(), Expires: time.Now().Add(24 * time.Hour), Generation: 1, RotatedAt: time.Now(),
	}
	value, err := store.Encode(&g)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Create(t.Context(), store.Record{Key: store.Key{Kind: store.KindGrant, ID: g.ID}, Parent: "u", Value: value, Expires: g.Expires}); err != nil {
		t.Fatal(err)
	}
	refresh, err = encodeRefresh(keys, g.ID, 1, "c", store.DialectOAuth)
	if err != nil {
		t.Fatal(err)
	}
	return refresh, g.ID
}

func (n *refreshNode) refresh(ctx context.Context, token string) (string, error) {
	form, err := httpx.ParseForm(url.Values{"refresh_token": {token}}.Encode())
	if err != nil {
		return "", err
	}
	client := &oauth.Client{ID: "c", Scopes: []string{"read"}, Grants: []oauth.GrantType{oauth.RefreshToken}}
	p, err := n.Prepare(ctx, Request{Client: client, Form: form})
	if err != nil {
		return "", err
	}
	return p.Commit(ctx)
}

// N14. Each operation of a refresh at one node goes wrong in turn, alone or with all that
// follow, for longer than the grace period. The client was answered 503 and repeats its
// request at either node.
func TestFailedRefreshSucceedsAfterTheGracePeriod(t *testing.T) {
	keys := newKeys(t, "k")
	for _, grace := range []time.Duration{0, 10 * time.Second} {
		for _, how := range []fault{lostRequest, lostReply, late} {
			for _, following := range []bool{false, true} {
				for _, at := range []int{0, 1} {
					for n, more := 1, true; more; n++ {
						name := fmt.Sprintf("grace %v, fault %d of operation %d, and of all that follow %v, retry at node %d", grace, how, n, following, at)
						t.Run(name, func(t *testing.T) {
							synctest.Test(t, func(t *testing.T) {
								m := storetest.NewMemory(time.Now)
								nodes := []*refreshNode{newRefreshNode(t, m, keys, grace), newRefreshNode(t, m, keys, grace)}
								token, family := beginFamily(t, m, keys)
								time.Sleep(time.Minute)
								more = failedRefresh(t, nodes, token, family, failing{how, n, following, at}, grace)
							})
						})
					}
				}
			}
		}
	}
}

type failing struct {
	how       fault
	operation int
	following bool
	retryAt   int
}

// failedRefresh reports whether there are operations after the one that failed.
func failedRefresh(t *testing.T, nodes []*refreshNode, token, family string, f failing, grace time.Duration) (more bool) {
	ops, broken := 0, true
	var mu sync.Mutex
	nodes[0].link.become(func(string) (fault, time.Duration, time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		ops++
		if broken && (ops == f.operation || f.following && ops > f.operation) {
			return f.how, 0, 50 * time.Millisecond
		}
		return works, 0, 0
	})
	_, first := nodes[0].refresh(t.Context(), token)
	if why(first) != "" {
		t.Fatal("a fault was answered as a refusal:", first)
	}
	mu.Lock()
	more = ops >= f.operation
	mu.Unlock()
	time.Sleep(grace + 30*time.Second)
	mu.Lock()
	broken = false
	mu.Unlock()
	next, again := nodes[f.retryAt].refresh(t.Context(), token)
	if first == nil {
		if why(again) != Used || !revoked(t, nodes[1].link.Memory, family) {
			t.Fatal("a replay after an answer:", again)
		}
		return more
	}
	if again != nil {
		t.Fatal("an honest retry:", again)
	}
	if next, again = nodes[1-f.retryAt].refresh(t.Context(), next); again != nil {
		t.Fatal("its successor:", again)
	}
	// What was replaced and delivered is a replay, as ever.
	time.Sleep(grace + retryTime)
	if _, err := nodes[f.retryAt].refresh(t.Context(), token); why(err) != Used || !revoked(t, nodes[1].link.Memory, family) {
		t.Fatal("a replay:", err)
	}
	if _, err := nodes[f.retryAt].refresh(t.Context(), next); err == nil {
		t.Fatal("the family lives on")
	}
	if !nodes[0].lost.idle() {
		t.Error("the background goroutine still runs")
	}
	return more
}

// N14. A replaced token that comes back ends the family, also when the one who presents it
// hangs up while the record is looked at.
func TestReplayEndsTheGrantThoughItsCallerDisconnects(t *testing.T) {
	keys := newKeys(t, "k")
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		n := newRefreshNode(t, m, keys, 0)
		token, family := beginFamily(t, m, keys)
		if _, err := n.refresh(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), lookEvery/2)
		defer cancel()
		if _, err := n.refresh(ctx, token); why(err) != Used || !revoked(t, m, family) {
			t.Error("a replay:", err)
		}
	})
}

// N14. A retry is good for a minute after the store is back, and not for longer.
func TestRefreshRetryIsPossibleForAMinute(t *testing.T) {
	keys := newKeys(t, "k")
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		n := newRefreshNode(t, m, keys, 0)
		token, family := beginFamily(t, m, keys)
		var broken bool
		var mu sync.Mutex
		n.link.become(func(op string) (fault, time.Duration, time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			if broken = broken || op == "swap" && time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) < time.Second; broken {
				return lostReply, 0, 0
			}
			return works, 0, 0
		})
		if _, err := n.refresh(t.Context(), token); err == nil || why(err) != "" {
			t.Fatal("the reply was lost:", err)
		}
		time.Sleep(time.Minute)
		mu.Lock()
		broken = false
		mu.Unlock()
		time.Sleep(retryTime + time.Second)
		if _, err := n.refresh(t.Context(), token); why(err) != Used || !revoked(t, m, family) {
			t.Error("after that time:", err)
		}
	})
}

// N14. The node that answered 503 answers the retry itself while it cannot write the record.
func TestNodeRemembersItsLostRotation(t *testing.T) {
	keys := newKeys(t, "k")
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		n := newRefreshNode(t, m, keys, 0)
		token, _ := beginFamily(t, m, keys)
		var mu sync.Mutex
		swapped, healed := false, false
		n.link.become(func(op string) (fault, time.Duration, time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case op == "swap" && !swapped:
				swapped = true
				return lostReply, 0, 0
			case swapped && !healed, op == "swap":
				return lostRequest, 0, 0
			}
			return works, 0, 0
		})
		_, err := n.refresh(t.Context(), token)
		mu.Lock()
		healed = true
		mu.Unlock()
		if _, again := n.refresh(t.Context(), token); err == nil || why(err) != "" || again != nil {
			t.Errorf("%v, and the retry %v", err, again)
		}
		time.Sleep(lostKept + time.Second) // the background gives up
	})
}

// N14. A rotation that somebody was given is not prolonged for the sake of another attempt
// that was lost.
func TestAnsweredRotationIsNotExtended(t *testing.T) {
	keys := newKeys(t, "k")
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		n := newRefreshNode(t, m, keys, 0)
		token, family := beginFamily(t, m, keys)
		lost := rotation{family, 1, time.Now().UnixNano()}
		time.Sleep(time.Second)
		if _, err := n.refresh(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		if err := n.settleRotation(t.Context(), lost, struct{}{}); err != nil {
			t.Fatal(err)
		}
		if _, g, err := n.readFamily(t.Context(), family); err != nil || !g.RetryUntil.IsZero() {
			t.Error(g.RetryUntil, err)
		}
	})
}

// N14. There is a cap on what a node remembers of them.
func TestLostRotationsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newRefreshNode(t, storetest.NewMemory(time.Now), newKeys(t, "k"), 0)
		n.link.become(func(string) (fault, time.Duration, time.Duration) { return lostRequest, 0, 0 })
		for i := range uint64(maxBacklog + 10) {
			n.lost.add(rotation{"f", i, 1}, struct{}{}, lostKept)
		}
		if held := n.lost.held(); held != maxBacklog {
			t.Errorf("%d are held", held)
		}
		n.link.become(func(string) (fault, time.Duration, time.Duration) { return works, 0, 0 })
		time.Sleep(time.Second)
		n.link.become(func(string) (fault, time.Duration, time.Duration) { return lostRequest, 0, 0 })
		n.lost.add(rotation{"f", 1, 1}, struct{}{}, lostKept)
		time.Sleep(lostKept + time.Second)
		if !n.lost.idle() {
			t.Errorf("%d are held for ever", n.lost.held())
		}
	})
}

// N14. A thief cannot make a replaced token good for longer by hanging up while it is
// replaced: nobody was answered 503.
func TestDisconnectDoesNotExtendTheRefreshRetry(t *testing.T) {
	keys := newKeys(t, "k")
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		n := newRefreshNode(t, m, keys, 0)
		token, family := beginFamily(t, m, keys)
		ctx, hangUp := context.WithCancel(t.Context())
		n.link.become(func(op string) (fault, time.Duration, time.Duration) {
			if op == "swap" && ctx.Err() == nil {
				time.AfterFunc(time.Millisecond, hangUp)
				return lostReply, 0, 2 * time.Millisecond
			}
			return works, 0, 0
		})
		if _, err := n.refresh(ctx, token); err == nil {
			t.Fatal("the reply was lost")
		}
		time.Sleep(time.Second) // for what is done in the background
		if _, err := n.refresh(t.Context(), token); why(err) != Used || !revoked(t, m, family) {
			t.Error("a replay:", err)
		}
	})
}

// The rotation that another node was told no replica has is no reason to deliver the successor.
func TestRepeatedRefreshWaitsUntilTheRotationIsDurable(t *testing.T) {
	keys, m := newKeys(t, "k"), storetest.NewMemory(time.Now)
	one, two := newRefreshNode(t, m, keys, time.Minute), newRefreshNode(t, m, keys, time.Minute)
	token, _ := beginFamily(t, m, keys)
	next, err := one.refresh(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	two.link.become(func(op string) (fault, time.Duration, time.Duration) {
		if op == "confirm" {
			return lostRequest, 0, 0
		}
		return works, 0, 0
	})
	if got, err := two.refresh(t.Context(), token); err == nil || why(err) != "" {
		t.Errorf("without a replica: %q, %v", got, err)
	}
	two.link.become(func(string) (fault, time.Duration, time.Duration) { return works, 0, 0 })
	if got, err := two.refresh(t.Context(), token); err != nil || got != next {
		t.Errorf("with one: %v", err)
	}
}

// That a grant is revoked is not confirmed on the word of a record which no replica has.
func TestRepeatedRevocationWaitsUntilTheFirstIsDurable(t *testing.T) {
	keys, m := newKeys(t, "k"), storetest.NewMemory(time.Now)
	one, two := newRefreshNode(t, m, keys, time.Minute), newRefreshNode(t, m, keys, time.Minute)
	_, id := beginFamily(t, m, keys)
	if ended, err := one.Families.End(t.Context(), id); !ended || err != nil {
		t.Fatal(ended, err)
	}
	two.link.become(func(op string) (fault, time.Duration, time.Duration) {
		if op == "confirm" {
			return lostRequest, 0, 0
		}
		return works, 0, 0
	})
	if ended, err := two.Families.End(t.Context(), id); ended || err == nil {
		t.Errorf("without a replica: %t, %v", ended, err)
	}
	two.link.become(func(string) (fault, time.Duration, time.Duration) { return works, 0, 0 })
	if ended, err := two.Families.End(t.Context(), id); ended || err != nil {
		t.Errorf("with one: %t, %v", ended, err)
	}
}
