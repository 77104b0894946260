package revocationlist

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

const smallCap = 200

// flooded is a list with room for 200 revocations to which n tokens of the client "flood" were revoked, one a second,
// each issued a second before.
func flooded(t *testing.T, n int) *node {
	t.Helper()
	f := newNode(t)
	l, err := New(Config{Store: f.store, MaxTokenLife: hour, Now: f.now, Limit: smallCap})
	if err != nil {
		t.Fatal(err)
	}
	began := f.now()
	l.set.elapsed = func() time.Duration { return f.now().Sub(began) }
	f.List, l.loaded, l.live = l, true, true
	for i := range n {
		f.move(time.Second)
		if err := l.Revoke(t.Context(), store.Revocation{Of: store.RevokeToken, Value: strconv.Itoa(i), Client: "flood"}); err != nil {
			t.Fatalf("number %d: %v", i, err)
		}
	}
	return f
}

func (n *node) isRevoked(t *testing.T, token Token) bool {
	t.Helper()
	revoked, err := n.Revoked(token)
	if err != nil {
		t.Fatal(err)
	}
	return revoked
}

func TestRevocationCapAffectsOlderTokensOfTheClientOnly(t *testing.T) {
	for _, times := range []int{1, 2, 10} {
		n := flooded(t, times*smallCap)
		if n.set.size > smallCap {
			t.Errorf("%d x: %d are held", times, n.set.size)
		}
		for i := range times * smallCap {
			if !n.isRevoked(t, Token{ID: strconv.Itoa(i), Client: "flood", IssuedAt: time.Unix(1_800_000_000+int64(i), 0)}) {
				t.Fatalf("%d x: number %d is valid again", times, i)
			}
		}
		began := time.Unix(1_800_000_000, 0)
		if n.isRevoked(t, Token{ID: "x", Client: "honest", IssuedAt: began}) {
			t.Errorf("%d x: a token of another client is refused", times)
		}
		if n.isRevoked(t, Token{ID: "x", Client: "flood", IssuedAt: n.now()}) {
			t.Errorf("%d x: a new token of the same client is refused", times)
		}
		if old := n.isRevoked(t, Token{ID: "x", Client: "flood", IssuedAt: began}); old != (times > 1) {
			t.Errorf("%d x: an old token of the same client is refused: %t", times, old)
		}
		n.move(2 * time.Hour)
		n.set.prune(1 << 20)
		if n.set.size != 0 || len(n.set.index) != 0 || n.isRevoked(t, Token{ID: "x", Client: "flood", IssuedAt: began}) {
			t.Errorf("%d x: %d are held when all have expired", times, n.set.size)
		}
	}
}

func TestClientlessRevocationsFoldForEveryone(t *testing.T) {
	for _, times := range []int{1, 2, 10} {
		n := flooded(t, 0)
		began := n.now()
		for i := range times * smallCap {
			n.move(time.Second)
			rv := store.Revocation{Of: store.RevokeSubject, Value: strconv.Itoa(i), Epoch: int64(i + 1)}
			if i%2 == 0 {
				rv = store.Revocation{Of: store.RevokeClient, Value: strconv.Itoa(i)}
			}
			if err := n.Revoke(t.Context(), rv); err != nil {
				t.Fatal(err)
			}
		}
		if n.set.size > smallCap {
			t.Errorf("%d x: %d are held", times, n.set.size)
		}
		for i := range times * smallCap {
			token := Token{Subject: strconv.Itoa(i), Client: "c", IssuedAt: began.Add(time.Duration(i) * time.Second)}
			if i%2 == 0 {
				token = Token{Subject: "s", Client: strconv.Itoa(i), IssuedAt: token.IssuedAt}
			}
			if !n.isRevoked(t, token) {
				t.Fatalf("%d x: number %d is valid again", times, i)
			}
		}
		if n.isRevoked(t, Token{Subject: "honest", IssuedAt: n.now()}) {
			t.Errorf("%d x: a new token is refused", times)
		}
		if old := n.isRevoked(t, Token{Subject: "honest", IssuedAt: began}); old != (times > 1) {
			t.Errorf("%d x: an old token is refused: %t", times, old)
		}
	}
}

func TestKeyRevocationsAreNeverFolded(t *testing.T) {
	n := flooded(t, 0)
	if err := n.Revoke(t.Context(), store.Revocation{Of: store.RevokeKey, Value: "leaked"}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 * smallCap {
		if err := n.Revoke(t.Context(), store.Revocation{Of: store.RevokeGrant, Value: strconv.Itoa(i), Client: "flood"}); err != nil {
			t.Fatal(err)
		}
	}
	if !n.KeyRevoked("leaked") || n.KeyRevoked("other") {
		t.Error("a leaked key is forgotten")
	}
}

func TestRevocationTakesLessThanAHundredBytes(t *testing.T) {
	const n = 1_000_000
	began := time.Now()
	s := newSet(n, func() time.Duration { return time.Since(began) })
	before := heapInUse()
	for i := range n {
		s.add(ofToken, store.Revocation{Of: store.RevokeToken, Value: "WwKx2sE8F1mV9rTqYtPz" + strconv.Itoa(i), At: began, Client: "client " + strconv.Itoa(i%10_000)}, began.Add(time.Hour+time.Duration(i)*time.Millisecond), began)
	}
	each := (heapInUse() - before) / n
	runtime.KeepAlive(s)
	t.Logf("%d bytes each", each)
	if s.size != n || each > 100 {
		t.Errorf("%d entries of %d bytes each", s.size, each)
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestLoadLargerThanTheCapCompletes(t *testing.T) {
	memory := storetest.NewMemory(nil)
	writer, err := New(Config{Store: memory, MaxTokenLife: hour})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 * smallCap {
		if err := writer.Revoke(t.Context(), store.Revocation{Of: store.RevokeToken, Value: strconv.Itoa(i), Client: "flood"}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := New(Config{Store: memory, MaxTokenLife: hour, Limit: smallCap})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- l.Run(ctx) }()
	if err := l.WaitFirstLoad(time.Minute); err != nil {
		t.Error(err)
	}
	if revoked, err := l.Revoked(Token{ID: "honest", Client: "honest", IssuedAt: time.Now()}); revoked || err != nil {
		t.Errorf("a token of another client: %t, %v", revoked, err)
	}
	stop()
	<-done
}

func TestFirstLoadIsAwaitedWhileItProgresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &trickle{Backend: storetest.NewMemory(nil), pages: 30, pause: time.Second}
		l, err := New(Config{Store: slow, MaxTokenLife: hour})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.Run(ctx) }()
		if err := l.WaitFirstLoad(5 * time.Second); err != nil {
			t.Error(err)
		}
		stop()
		<-done
	})
	synctest.Test(t, func(t *testing.T) {
		away := storetest.NewMemory(nil)
		away.Fail(errDown)
		l, err := New(Config{Store: away, MaxTokenLife: hour})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.Run(ctx) }()
		begun := time.Now()
		if err := l.WaitFirstLoad(5 * time.Second); !errors.Is(err, errDown) || !strings.Contains(err.Error(), "0 arrived") || time.Since(begun) > 6*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		stop()
		<-done
	})
}

// trickle delivers a page now and then.
type trickle struct {
	store.Backend
	pages int
	pause time.Duration
}

func (s *trickle) Watch(ctx context.Context, _ store.Kind, deliver func([]store.Record)) error {
	for i := range s.pages {
		time.Sleep(s.pause)
		rv := store.Revocation{Of: store.RevokeToken, Value: strconv.Itoa(i), At: time.Now()}
		value, err := store.Encode(&rv)
		if err != nil {
			return err
		}
		deliver([]store.Record{{Key: rv.Key(), Value: value, Expires: time.Now().Add(time.Hour)}})
	}
	deliver(nil)
	<-ctx.Done()
	return ctx.Err()
}
