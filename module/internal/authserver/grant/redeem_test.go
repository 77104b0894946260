package grant

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// fault is what a link to the store does to one operation.
type fault int

const (
	works       fault = iota
	lostRequest       // nothing happens, and the caller gets an error
	lostReply         // it takes effect, and the caller gets an error
	late              // as lostRequest, but it takes effect later
)

var errLink = errors.New("connection reset")

// link is one node's connection to the store that all nodes share.
type link struct {
	*storetest.Memory
	mu sync.Mutex
	// plan says what happens to the next operation, and how long it takes on its way there
	// and back.
	plan func(op string) (f fault, there, back time.Duration)
}

func through[T any](ctx context.Context, l *link, op string, do func(ctx context.Context) (T, error)) (result T, err error) {
	l.mu.Lock()
	f, there, back := l.plan(op)
	l.mu.Unlock()
	time.Sleep(there)
	var none T
	switch f {
	case lostRequest:
		return none, errLink
	case late:
		go func() {
			time.Sleep(back)
			_, _ = do(context.WithoutCancel(ctx))
		}()
		return none, errLink
	}
	result, err = do(ctx)
	time.Sleep(back)
	if f == lostReply {
		return none, errLink
	}
	return result, err
}

func (l *link) Get(ctx context.Context, k store.Key) (store.Record, error) {
	return through(ctx, l, "get", func(ctx context.Context) (store.Record, error) { return l.Memory.Get(ctx, k) })
}

func (l *link) Create(ctx context.Context, r store.Record) (store.Record, error) {
	return through(ctx, l, "create", func(ctx context.Context) (store.Record, error) { return l.Memory.Create(ctx, r) })
}

func (l *link) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	return through(ctx, l, "swap", func(ctx context.Context) (store.Record, error) { return l.Memory.Swap(ctx, r) })
}

func (l *link) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	return through(ctx, l, "list", func(ctx context.Context) ([]store.Record, error) {
		return l.Memory.List(ctx, kind, parent, after, limit)
	})
}

func (l *link) Confirm(ctx context.Context, _ store.Key) error {
	_, err := through(ctx, l, "confirm", func(context.Context) (struct{}, error) { return struct{}{}, nil })
	return err
}

func (l *link) ConfirmList(ctx context.Context, _ store.Kind, _ string) error {
	return l.Confirm(ctx, store.Key{})
}

// become changes the plan.
func (l *link) become(plan func(op string) (f fault, there, back time.Duration)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plan = plan
}

// codeNode is one node that redeems codes.
type codeNode struct {
	codes
	link *link
}

const codeLife = time.Minute

func newCodeNode(t *testing.T, m *storetest.Memory, keys *secret.Keys) *codeNode {
	t.Helper()
	l := &link{Memory: m, plan: func(string) (fault, time.Duration, time.Duration) { return works, 0, 0 }}
	c := Config{
		Store: l, Directory: directorytest.NewMemory(directorytest.Seed{User: directory.User{ID: "u", Username: "u"}}),
		Revocations: deafRevoker{}, Passwords: anybody{}, Now: time.Now,
		Keys:   func(context.Context) (*secret.Keys, error) { return keys, nil },
		Access: time.Hour, Refresh: 24 * time.Hour,
	}
	return &codeNode{newCodes(familiesOf(t, c), store.DialectOAuth, store.DialectOAuth), l}
}

// issueCode stores a code and returns it with its family.
func issueCode(t *testing.T, m *storetest.Memory) (code, family string) {
	t.Helper()
	code = secret.Token()
	family = store.GrantOf(store.DialectOAuth, secret.Digest(code))
	storeCode(t, m, code, "", store.Code{Grant: family})
	return code, family
}

// storeCode stores an issued code. What v lacks is added.
func storeCode(t *testing.T, m *storetest.Memory, code, parent string, v store.Code) {
	t.Helper()
	v.State, v.Dialect, v.Client, v.Subject, v.Scopes = store.CodeIssued, store.DialectOAuth, "c", "u", []string{"read"}
	v.IssuedAt, v.Expires = time.Now(), time.Now().Add(codeLife)
	value, err := store.Encode(&v)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Create(t.Context(), store.Record{Key: codeKey(code), Parent: parent, Value: value, Expires: v.Expires.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
}

func codeKey(code string) store.Key { return store.Key{Kind: store.KindCode, ID: secret.Digest(code)} }

// exchange redeems a code: nil means that the client was answered with tokens.
func (n *codeNode) exchange(ctx context.Context, code string) error {
	form, err := httpx.ParseForm(url.Values{"code": {code}}.Encode())
	if err != nil {
		return err
	}
	client := &oauth.Client{ID: "c", Scopes: []string{"read"}, Grants: []oauth.GrantType{oauth.RefreshToken}}
	p, err := n.prepareCode(ctx, Request{Client: client, Form: form}, code, func(store.Code) error { return nil })
	if err != nil {
		return err
	}
	_, err = p.Commit(ctx)
	return err
}

// retry repeats an exchange as long as it is answered 503, as a client does that waits a
// second each time.
func (n *codeNode) retry(ctx context.Context, code string) error {
	for {
		err := n.exchange(ctx, code)
		if why(err) != "" || err == nil {
			return err
		}
		time.Sleep(time.Second)
	}
}

func revoked(t *testing.T, m *storetest.Memory, family string) bool {
	t.Helper()
	var g store.Grant
	if _, err := store.Read(t.Context(), m, store.Key{Kind: store.KindGrant, ID: family}, &g); err != nil {
		t.Fatal(err)
	}
	return g.Revoked()
}

// N14. Each operation of an exchange at one node goes wrong in turn, alone or with all that
// follow, and then the client retries at either node.
func TestFailedExchangeSucceedsAtAnyNodeOnlyOnce(t *testing.T) {
	keys := newKeys(t, "k")
	for _, how := range []fault{lostRequest, lostReply, late} {
		for _, following := range []bool{false, true} {
			for _, at := range []int{0, 1} {
				for n, more := 1, true; more; n++ {
					name := fmt.Sprintf("fault %d of operation %d, and of all that follow %v, retry at node %d", how, n, following, at)
					t.Run(name, func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							m := storetest.NewMemory(time.Now)
							nodes := []*codeNode{newCodeNode(t, m, keys), newCodeNode(t, m, keys)}
							code, family := issueCode(t, m)
							ops, broken := 0, true
							var mu sync.Mutex
							nodes[0].link.become(func(string) (fault, time.Duration, time.Duration) {
								mu.Lock()
								defer mu.Unlock()
								ops++
								if broken && (ops == n || following && ops > n) {
									return how, 0, 50 * time.Millisecond
								}
								return works, 0, 0
							})
							first := nodes[0].exchange(t.Context(), code)
							if why(first) != "" {
								t.Fatal("a fault was answered as a refusal:", first)
							}
							mu.Lock()
							more = ops >= n
							mu.Unlock()
							// While the first node is cut off, the other one may not be able to
							// tell what happened, but it neither refuses nor ends anything.
							other := nodes[1].exchange(t.Context(), code)
							if first == nil != (why(other) == Used) && (first != nil || why(other) != "" || other == nil) {
								t.Fatalf("first %v, then at the other node %v", first, other)
							}
							mu.Lock()
							broken = false
							mu.Unlock()
							again := nodes[at].retry(t.Context(), code)
							switch {
							case first == nil || other == nil:
								if why(again) != Used {
									t.Fatalf("redeemed twice: %v, %v, %v", first, other, again)
								}
							case again != nil:
								t.Fatalf("an honest retry: %v", again)
							case revoked(t, m, family):
								t.Fatal("the retry got tokens of a grant that is dead")
							default:
								if err := nodes[1-at].exchange(t.Context(), code); why(err) != Used {
									t.Fatal("a replay:", err)
								}
							}
							if !revoked(t, m, family) {
								t.Error("the replay ended nothing")
							}
							if time.Sleep(2 * codeLife); !nodes[0].unsettled.idle() {
								t.Error("the background goroutine still runs")
							}
						})
					})
				}
			}
		}
	}
}

// N14. Requests for one code at three nodes whose links to the store fail and delay at
// random: tokens are delivered once, and nobody is told that the code was used before.
func TestCodeIsDeliveredOnceUnderRandomFaults(t *testing.T) {
	keys := newKeys(t, "k")
	for seed := range uint64(500) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 15))
			m := storetest.NewMemory(time.Now)
			var mu sync.Mutex
			broken := true
			upTo := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }
			draw := func(d time.Duration) time.Duration {
				mu.Lock()
				defer mu.Unlock()
				return upTo(d)
			}
			var nodes []*codeNode
			for range 3 {
				n := newCodeNode(t, m, keys)
				n.link.become(func(op string) (fault, time.Duration, time.Duration) {
					mu.Lock()
					defer mu.Unlock()
					f := works
					if op == "list" { // else too many retries fail to end in time
						return works, 0, 0
					}
					if broken && r.IntN(4) == 0 {
						f = fault(1 + r.IntN(3))
					}
					return f, upTo(10 * time.Millisecond), upTo(30 * time.Millisecond)
				})
				nodes = append(nodes, n)
			}
			code, family := issueCode(t, m)
			delivered, replays := 0, 0
			ask := func(n *codeNode, exchange func(context.Context, string) error) {
				err := exchange(t.Context(), code)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					delivered++
				case why(err) == Used:
					replays++
				case why(err) != "":
					t.Errorf("seed %d: %v", seed, err)
				}
			}
			var all sync.WaitGroup
			for i := range 1 + int(draw(6)) {
				begins := draw(200 * time.Millisecond)
				all.Go(func() {
					time.Sleep(begins)
					ask(nodes[i%3], nodes[i%3].exchange)
				})
			}
			all.Wait()
			if replays > 0 && delivered == 0 {
				t.Fatalf("seed %d: refused as used before anything was delivered", seed)
			}
			if delivered == 0 && draw(2) == 0 { // the other half heal before the retry
				begun := time.Now()
				ask(nodes[0], nodes[0].retry)
				if time.Since(begun) > codeLife/2 {
					t.Fatalf("seed %d: the retry took %v", seed, time.Since(begun))
				}
			}
			mu.Lock()
			broken = false
			mu.Unlock()
			ask(nodes[1], nodes[1].retry)
			if delivered != 1 {
				t.Fatalf("seed %d: delivered %d times", seed, delivered)
			}
			if dead := revoked(t, m, family); dead != (replays > 0) {
				t.Fatalf("seed %d: %d replays, the grant is dead: %v", seed, replays, dead)
			}
			time.Sleep(2 * codeLife)
		})
	}
}

// N14. A claim whose node never comes back: the code cannot be redeemed any more, but
// nobody is called a replay while it is valid. After that a replay ends the grant.
func TestCodeClaimedByALostNodeIsNoReplayUntilExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		a, b := newCodeNode(t, m, newKeys(t, "k")), newCodeNode(t, m, newKeys(t, "k"))
		code, family := issueCode(t, m)
		swaps := 0
		a.link.become(func(op string) (fault, time.Duration, time.Duration) {
			if op == "swap" {
				swaps++
			}
			if swaps > 0 {
				return lostReply, 0, 0
			}
			return works, 0, 0
		})
		if err := a.exchange(t.Context(), code); err == nil || why(err) != "" {
			t.Fatal(err)
		}
		a.link.become(func(string) (fault, time.Duration, time.Duration) { return lostRequest, 0, 0 })
		for begun := time.Now(); time.Since(begun) < codeLife-time.Second; time.Sleep(5 * time.Second) {
			asked := time.Now()
			err := b.exchange(t.Context(), code)
			if !errors.Is(err, errCodeClaimed) {
				t.Fatal(err)
			}
			if took := time.Since(asked); took != (maxLooks-1)*lookEvery {
				t.Errorf("the answer took %v", took)
			}
		}
		if revoked(t, m, family) {
			t.Error("the grant was ended")
		}
		time.Sleep(5 * time.Second)
		if err := b.exchange(t.Context(), code); why(err) != Used || !revoked(t, m, family) {
			t.Errorf("after the code's life: %v", err)
		}
	})
}

func TestCodeRevokedWhileClaimedEndsItsGrant(t *testing.T) {
	for name, f := range map[string]fault{"and the exchange notices": works, "and the exchange is answered": lostRequest} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := storetest.NewMemory(time.Now)
				n := newCodeNode(t, m, newKeys(t, "k"))
				code, family := issueCode(t, m)
				swaps := 0
				n.link.become(func(op string) (fault, time.Duration, time.Duration) {
					if op != "swap" {
						return works, 0, 0
					}
					if swaps++; swaps == 2 { // the one that records the use
						var v store.Code
						record, err := store.Read(t.Context(), m, codeKey(code), &v)
						if err != nil || v.State != store.CodeClaimed {
							t.Fatal(v.State, err)
						}
						v, _ = v.Revoke()
						if record.Value, err = store.Encode(&v); err == nil {
							_, err = m.Swap(t.Context(), record)
						}
						if err != nil {
							t.Fatal(err)
						}
						return f, 0, 0
					}
					return works, 0, 0
				})
				err := n.exchange(t.Context(), code)
				if f == works && why(err) != Revoked || f != works && err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				if !revoked(t, m, family) {
					t.Error("the grant lives")
				}
				if err := n.exchange(t.Context(), code); why(err) != Revoked {
					t.Error(err)
				}
			})
		})
	}
}

// Records of the release before know no claim: used means delivered.
func TestCodeUsedByThePreviousReleaseIsAReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		n := newCodeNode(t, m, newKeys(t, "k"))
		code, family := issueCode(t, m)
		if err := n.exchange(t.Context(), code); err != nil {
			t.Fatal(err)
		}
		record, err := m.Get(t.Context(), codeKey(code))
		if err != nil {
			t.Fatal(err)
		}
		record.Value = []byte(fmt.Sprintf(`{"v":1,"state":"used","dialect":"oauth","client":"c","sub":"u","scopes":["read"],"attempt":"x","grant":%q,"auth_time":"2026-01-01T00:00:00Z","iat":%q,"exp":%q}`,
			family, time.Now().Format(time.RFC3339), time.Now().Add(time.Minute).Format(time.RFC3339)))
		if _, err := m.Swap(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		if err := n.exchange(t.Context(), code); why(err) != Used || !revoked(t, m, family) {
			t.Error(err)
		}
	})
}

// A client that hangs up is answered nothing, and may retry.
func TestExchangeIsRetriedAfterAClientDisconnect(t *testing.T) {
	for name, after := range map[string]time.Duration{"before the claim takes effect": 5 * time.Millisecond, "after it": 15 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := storetest.NewMemory(time.Now)
				a, b := newCodeNode(t, m, newKeys(t, "k")), newCodeNode(t, m, newKeys(t, "k"))
				code, _ := issueCode(t, m)
				ctx, hangUp := context.WithCancel(t.Context())
				a.link.become(func(op string) (fault, time.Duration, time.Duration) {
					if op != "swap" {
						return works, 0, 0
					}
					time.AfterFunc(after, hangUp)
					return works, 10 * time.Millisecond, 10 * time.Millisecond
				})
				if err := a.exchange(ctx, code); !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				if err := b.exchange(t.Context(), code); err != nil {
					t.Error(err)
				}
				time.Sleep(codeLife + settleEvery) // what goes on in the background ends with the code
			})
		})
	}
}

func (b *backlog[K, V]) held() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.all)
}

func (b *backlog[K, V]) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.running && len(b.all) == 0
}

func TestUnsettledExchangesAreLimitedAndExpire(t *testing.T) {
	for _, times := range []int{1, 2, 10} {
		t.Run(fmt.Sprint(times, " x the cap"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { addUnsettledExchanges(t, times*maxBacklog+10) })
		})
	}
}

// addUnsettledExchanges adds so many, more than maxBacklog, while the store is away.
func addUnsettledExchanges(t *testing.T, n int) {
	node := newCodeNode(t, storetest.NewMemory(time.Now), newKeys(t, "k"))
	tried := 0
	node.link.become(func(string) (fault, time.Duration, time.Duration) { tried++; return lostRequest, 0, 0 })
	add := func(id string) {
		node.addUnsettled(claim{
			record: store.Record{Key: store.Key{Kind: store.KindCode, ID: id}}, attempt: "a",
			code: store.Code{Expires: time.Now().Add(codeLife)},
		}, false)
	}
	for i := range n {
		add(fmt.Sprint(i))
	}
	if held := node.unsettled.held(); held != maxBacklog {
		t.Errorf("%d are held", held)
	}
	if !node.undelivered("0", "a") || node.undelivered("0", "b") || node.undelivered(fmt.Sprint(maxBacklog), "a") {
		t.Error("the wrong ones are held")
	}
	time.Sleep(codeLife + settleEvery)
	synctest.Wait()
	if !node.unsettled.idle() {
		t.Error("held too long")
	}
	if most := int(codeLife/settleEvery) + 1; tried > most {
		t.Errorf("a store that is away was asked %d times", tried)
	}
	add("expired") // of a code that has no time left
	node.addUnsettled(claim{code: store.Code{Expires: time.Now()}}, false)
	if node.unsettled.held() != 1 {
		t.Error("an expired code is held")
	}
	time.Sleep(2 * codeLife)
}
