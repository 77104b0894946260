package authserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

func TestPasswordHashingConcurrencyIsLimited(t *testing.T) { // E14
	synctest.Test(t, func(t *testing.T) {
		var d *watched
		g := newBrowserRig(t, watch(&d), func(c *authserver.Config) { c.Protect.HashConcurrency = 2 })
		b := g.browser()
		login := b.get(tokenIssuer + "/login")
		d.began, d.end = make(chan struct{}, 10), make(chan struct{})
		results := make(chan page, 10)
		post := func(name string) {
			tab := g.browserAt(b)
			go func() { results <- tab.signIn(login, name, "wrong") }()
			synctest.Wait()
		}
		post("ann")
		post("bob")
		if len(d.began) != 2 {
			t.Fatalf("%d began", len(d.began))
		}
		post("carl")
		if len(d.began) != 2 {
			t.Fatal("the third did not wait")
		}
		time.Sleep(8 * time.Second) // HashQueueTimeout
		synctest.Wait()
		g.isError(<-results, http.StatusServiceUnavailable)
		post("carl")
		close(d.end)
		synctest.Wait()
		for range 3 {
			if p := <-results; p.status != http.StatusUnauthorized {
				t.Errorf("%d", p.status)
			}
		}
	})
}

// A few hundred pages made at one moment would hold everybody else up.
func TestCrowdedSignInTimeoutsAreSpread(t *testing.T) { // E14
	synctest.Test(t, func(t *testing.T) {
		const crowd = 512
		var d *watched
		g := newBrowserRig(t, watch(&d), func(c *authserver.Config) { c.Protect.HashConcurrency = 1 })
		b := g.browser()
		login := b.get(tokenIssuer + "/login")
		d.began, d.end = make(chan struct{}, 1), make(chan struct{})
		first := make(chan page, 1)
		go func() { first <- g.browserAt(b).signIn(login, "ann", "wrong") }()
		synctest.Wait()
		begin := time.Now()
		left := make(chan time.Duration, crowd)
		for i := range crowd {
			tab := g.browserAt(b)
			go func() {
				if p := tab.signIn(login, fmt.Sprint("user", i), "wrong"); p.status != http.StatusServiceUnavailable {
					t.Errorf("%d", p.status)
				}
				left <- time.Since(begin)
			}()
		}
		at := make(map[time.Duration]int)
		for range crowd {
			at[<-left]++
		}
		for after, n := range at {
			if after < 4*time.Second || after > 8*time.Second || n > crowd/128 {
				t.Errorf("%d gave up after %v", n, after)
			}
		}
		close(d.end)
		<-first
	})
}

func TestAbandonedSignInKeepsItsSlotUntilHashed(t *testing.T) { // E14
	synctest.Test(t, func(t *testing.T) {
		var d *watched
		g := newBrowserRig(t, watch(&d), func(c *authserver.Config) { c.Protect.HashConcurrency = 1 })
		b := g.browser()
		login := b.get(tokenIssuer + "/login")
		d.began, d.end = make(chan struct{}, 10), make(chan struct{})
		ctx, leave := context.WithCancel(t.Context())
		body := login.form("username", "ann", "password", "wrong").Encode()
		send := func(ctx context.Context) chan int {
			status := make(chan int, 1)
			r := httptest.NewRequestWithContext(ctx, "POST", tokenIssuer+"/login", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			for _, name := range []string{browserCookie, lastSignInCookie} {
				r.AddCookie(&http.Cookie{Name: name, Value: cookieOf(b.cookies, name)})
			}
			go func() {
				w := httptest.NewRecorder()
				g.server.ServeHTTP(w, r)
				status <- w.Code
			}()
			synctest.Wait()
			return status
		}
		first := send(ctx)
		leave()
		synctest.Wait()
		second := send(t.Context())
		if len(d.began) != 1 || len(first) != 0 {
			t.Fatal("the place was free while the hash was still being made")
		}
		gone, leave := context.WithCancel(t.Context())
		third := send(gone)
		leave() // who leaves the queue frees it at once
		if <-third != httpx.StatusClientGone || len(d.began) != 1 || g.metrics.faults != 0 {
			t.Error("a waiting browser went away")
		}
		close(d.end)
		if a, c := <-first, <-second; a != http.StatusUnauthorized || c != http.StatusUnauthorized {
			t.Errorf("%d, %d", a, c)
		}
	})
}

// fromEverywhere gives each request addresses of unrelated networks.
func fromEverywhere(c *authserver.Config) {
	var called atomic.Int64
	c.ClientIP = func(*http.Request) string {
		n := called.Add(1)
		return fmt.Sprintf("%d.%d.1.1", 1+n/256%200, n%256)
	}
}

func TestSignInQueueIsLimitedToAThousand(t *testing.T) { // E14, the queue's cap; N06: and 500 newcomers
	synctest.Test(t, func(t *testing.T) {
		var d *watched
		g := newBrowserRig(t, watch(&d), fromEverywhere, func(c *authserver.Config) { c.Protect.HashConcurrency = 1 })
		b := g.browser()
		login := b.get(tokenIssuer + "/login")
		d.end = make(chan struct{})
		results := make(chan page, 1502)
		for i := range 1502 {
			tab := g.browserAt(b)
			go func() { results <- tab.signIn(login, fmt.Sprint("user", i), "wrong") }()
		}
		synctest.Wait()
		if len(results) != 1 { // one at work, 1,500 waiting, one too many
			t.Fatalf("%d were answered at once", len(results))
		}
		g.isError(<-results, http.StatusServiceUnavailable)
		close(d.end)
		for range 1501 {
			<-results
		}
	})
}

// N06: one address may have all that whoever asks may have, and is told so; whoever comes
// from elsewhere finds a place, and is not served after the others but next.
func TestOneAddressCannotFillTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d *watched
		g := newBrowserRig(t, watch(&d), func(c *authserver.Config) { c.Protect.HashConcurrency = 1 })
		b := g.browser()
		login := b.get(tokenIssuer + "/login")
		d.began, d.end = make(chan struct{}, 2000), make(chan struct{})
		results, newcomer := make(chan page, 1100), make(chan page, 1)
		for i := range 1100 {
			tab := g.browserAt(b)
			go func() { results <- tab.signIn(login, fmt.Sprint("user", i), "wrong") }()
			synctest.Wait()
		}
		if len(results) != 99 { // one at work, 1,000 waiting
			t.Errorf("N06 %d were answered at once", len(results))
		}
		for range len(results) {
			if p := <-results; p.status != http.StatusTooManyRequests || p.header.Get("Retry-After") != "2" {
				t.Fatalf("N06 %d %v", p.status, p.header)
			}
		}
		g.from("198.51.100.1")
		go func() { newcomer <- g.browserAt(b).signIn(login, "ann", annsPassword) }()
		synctest.Wait()
		d.end <- struct{}{} // the one at work
		synctest.Wait()
		d.end <- struct{}{}
		synctest.Wait()
		if len(newcomer) != 1 || len(results) != 1 {
			t.Fatalf("N06 the newcomer waits behind %d others", len(results))
		}
		if p := <-newcomer; p.status != http.StatusSeeOther {
			t.Errorf("N06 %d", p.status)
		}
		close(d.end)
		for range 1000 {
			<-results
		}
	})
}

// N06: strangers who wait keep out neither a client that authenticated itself nor a browser
// that signed the person in before.
func TestKnownCallersDoNotWaitBehindStrangers(t *testing.T) {
	for name, arrive := range map[string]func(g *tokenRig, home *tab) int{
		"a client": func(g *tokenRig, _ *tab) int { return g.token(passwordOf("ann", annsPassword)).status },
		"a browser": func(_ *tokenRig, home *tab) int {
			if home.tries("ann", annsPassword) == http.StatusSeeOther {
				return http.StatusOK
			}
			return 0
		},
	} {
		t.Run("N06 "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d *watched
				g := newPasswordRig(t, watch(&d), func(c *authserver.Config) { c.Protect.HashConcurrency = 1 })
				home := g.home(ann)
				b := g.browser()
				login := b.get(tokenIssuer + "/login")
				d.end = make(chan struct{})
				strangers, known := make(chan page, 10), make(chan int, 1)
				for i := range 10 {
					tab := g.browserAt(b)
					go func() { strangers <- tab.signIn(login, fmt.Sprint("user", i), "wrong") }()
					synctest.Wait()
				}
				go func() { known <- arrive(g, home) }()
				synctest.Wait()
				for range 2 { // the one at work, and the next
					d.end <- struct{}{}
					synctest.Wait()
				}
				if len(known) != 1 || len(strangers) != 1 {
					t.Fatalf("N06 it waits behind %d strangers", len(strangers))
				}
				if status := <-known; status != http.StatusOK {
					t.Errorf("N06 %d", status)
				}
				close(d.end)
				for range 10 {
					<-strangers
				}
			})
		})
	}
}
