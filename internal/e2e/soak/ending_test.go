package soak

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/store/bolt"
	"github.com/gatehouse/gatehouse/plugins/store/redis"
)

// N02: a user with more grants than a client should ever have been given is signed out
// everywhere at once, and what is dead is deleted soon, whatever restarts in between.
func TestTheEndOfAUserWithManyGrants(t *testing.T) {
	t.Run("bolt", func(t *testing.T) {
		s := newSite(t)
		endMany(t, s, s.config(), func() (store.Backend, error) {
			return bolt.Open(bolt.Options{Path: filepath.Join(s.Dir, "state.db")})
		})
	})
	t.Run("redis", func(t *testing.T) {
		s := newSite(t)
		t.Setenv("GATEHOUSE_TEST_SECRET", gatewaytest.Token())
		m := new(redis.Redis)
		m.URL, m.Timeout = redistest.Start(t).URL(), caddy.Duration(10*time.Second) // the test fills it as fast as it can
		if err := m.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		config := strings.Replace(s.config(), "store bolt $DIR/state.db", "secret {env.GATEHOUSE_TEST_SECRET}\n\t\tstore redis "+m.URL, 1)
		endMany(t, s, config, func() (store.Backend, error) { return m.Open(t.Context()) })
	})
}

// endMany fills the store while the program is down, and ends the user when it is up.
func endMany(t *testing.T, s *site, config string, open func() (store.Backend, error)) {
	t.Helper()
	n := times(3000, 100_000)
	p := s.Run(t, config)
	b := s.signInAs(t, username)
	sample := make([]family, 30)
	for i := range sample {
		sample[i] = s.grant(t, b.Client)
	}
	p.Stop()
	within(t, open, func(store store.Backend) { addGrants(t, store, n) })
	p = s.Run(t, config)
	page := b.Get(s.ID + "/account")
	begun := time.Now()
	out := b.Submit(page, url.Values{"all": {"everything"}})
	took := time.Since(begun)
	if out.Status != 200 {
		t.Fatalf("sign-out: %d %.300s", out.Status, out.Body)
	}
	for _, f := range sample {
		if a, err := s.refresh(f.refresh); err != nil || a.status != 400 || a.field("error") != "invalid_grant" {
			t.Errorf("a refresh token: %v %v", a, err)
		}
		s.dies(t, f.access)
	}
	allDead := time.Since(begun)
	if most := 100 * time.Millisecond * time.Duration(times(10, 1)); took > most { // other tests share the machine
		t.Errorf("the sign-out took %v, at most %v are allowed", took, most)
	}
	left, restarts := n, -1
	for swept := time.Now(); left > 0; restarts++ {
		if time.Since(swept) > time.Duration(times(3, 15))*time.Minute {
			t.Fatalf("%d grants are left after %v", left, time.Since(swept))
		}
		time.Sleep(time.Duration(times(100, 20_000)) * time.Millisecond)
		p.Stop()
		within(t, open, func(b store.Backend) { left = grantsOf(t, b) })
		p = s.Run(t, config)
	}
	t.Logf("%d grants and codes: signed out in %v, all of %d sampled tokens seen dead after %v; deleted after %v and %d restarts",
		n, took.Round(100*time.Microsecond), 2*len(sample), allDead.Round(time.Millisecond), time.Since(begun).Round(100*time.Millisecond), restarts)
	again := s.grant(t, s.signIn(t))
	if a, err := s.read("/read", again.access); err != nil || a.status != 200 {
		t.Errorf("after signing in again: %v %v", a, err)
	}
	p.Stop()
}

// within opens the store while the program is down.
func within(t *testing.T, open func() (store.Backend, error), do func(store.Backend)) {
	t.Helper()
	b, err := open()
	if err != nil {
		t.Fatal(err)
	}
	do(b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// addGrants gives alice so many grants, each with the code that began it.
func addGrants(t *testing.T, b store.Backend, n int) {
	t.Helper()
	now := time.Now()
	const workers = 100
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < n; i += workers {
				g := store.Grant{
					ID: gatewaytest.ID(), Dialect: store.DialectOAuth, Client: clientID, Subject: "u-1", Scopes: []string{"read"}, Generation: 1,
					AuthTime: now, IssuedAt: now, RotatedAt: now, Expires: now.Add(30 * 24 * time.Hour),
				}
				c := store.Code{
					State: store.CodeUsed, Dialect: store.DialectOAuth, Client: clientID, Subject: "u-1", Scopes: g.Scopes,
					RedirectURI: callback, IssuedAt: now, Expires: now, Grant: g.ID,
				}
				value, err := store.Encode(&g)
				code, err2 := store.Encode(&c)
				if err == nil && err2 == nil {
					_, err = b.Create(t.Context(), store.Record{Key: store.Key{Kind: store.KindGrant, ID: g.ID}, Parent: "u-1", Value: value, Expires: g.Expires})
					_, err2 = b.Create(t.Context(), store.Record{Key: store.Key{Kind: store.KindCode, ID: fmt.Sprint("seed-", i)}, Parent: "u-1", Value: code, Expires: g.Expires})
				}
				if err != nil || err2 != nil {
					t.Error(err, err2)
					return
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// grantsOf counts the grants of alice.
func grantsOf(t *testing.T, b store.Backend) (n int) {
	t.Helper()
	for after := ""; ; {
		page, err := b.List(t.Context(), store.KindGrant, "u-1", after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if n += len(page); len(page) < 1000 {
			return n
		}
		after = page[len(page)-1].ID
	}
}
