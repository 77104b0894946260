package authserver_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

// U16: what counts is that a guess is booked before it is evaluated. All of them are held
// in the directory at one time here, so that none has failed yet when the last one comes:
// whoever counts failures afterwards lets every one of them through (CVE-2024-4629).
func TestPendingGuessesCountToo(t *testing.T) {
	for name, guess := range map[string]func(*tokenRig, *tab, page, string){
		"at the login page": func(g *tokenRig, b *tab, login page, pass string) {
			g.browserAt(b).signIn(login, "ann", pass)
		},
		"with the password grant": func(g *tokenRig, _ *tab, _ page, pass string) {
			g.token(passwordOf("ann", pass))
		},
	} {
		t.Run("U16 "+name, func(t *testing.T) {
			const parallel = 100
			var d *watched
			g := newPasswordRig(t, watch(&d), func(c *authserver.Config) {
				c.Protect.HashConcurrency, c.Protect.HashQueueTimeout = parallel, time.Minute
			})
			d.began, d.end = make(chan struct{}, parallel), make(chan struct{})
			b := g.browser()
			login := b.get(tokenIssuer + "/login")
			var all sync.WaitGroup
			for i := range parallel {
				all.Go(func() { guess(g, b, login, fmt.Sprint("guess", i)) })
			}
			for range parallel {
				<-d.began
			}
			guesses := 0
			for _, name := range d.asked() {
				if name == "ann" {
					guesses++
				}
			}
			close(d.end)
			all.Wait()
			if guesses != 10 {
				t.Errorf("U16: %d of %d guesses at one time were evaluated, want 10", guesses, parallel)
			}
		})
	}
}
