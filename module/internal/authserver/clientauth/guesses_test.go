package clientauth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// slowClients is a store in which a client is found after the time that find says.
func slowClients(find func() time.Duration) *Authenticator {
	client := &oauth.Client{ID: "site", VariantB: true, SecretHashes: []string{secret.Digest("right")}}
	return &Authenticator{
		FindClient: func(context.Context, string) (*oauth.Client, bool, error) {
			time.Sleep(find())
			return client, true, nil
		},
		Audit: audit.Discard{}, Unknown: func(context.Context, string) string { return "" }, Now: time.Now,
		Attempts: lockout.NewBook(100, time.Now), Failures: 10, ClientIP: func(*http.Request) string { return "192.0.2.1" },
		Store: storetest.NewMemory(nil), Audience: []string{"https://id.example"},
	}
}

// Many guesses at the same time are no more than are permitted one after the other.
func TestParallelGuessesCount(t *testing.T) { // N19
	for _, c := range []struct {
		wrong    int
		accepted bool
	}{{9, true}, {10, false}, {99, false}} {
		synctest.Test(t, func(t *testing.T) {
			looked := time.Second
			a := slowClients(func() time.Duration { return looked })
			var all sync.WaitGroup
			for range c.wrong {
				all.Go(func() {
					if _, err := a.App(new(http.Request), "site", "wrong"); err == nil {
						t.Error("a wrong secret is accepted")
					}
				})
			}
			synctest.Wait()
			looked = 2 * time.Second
			_, err := a.App(new(http.Request), "site", "right")
			all.Wait()
			var refusal *oauth.Error
			if errors.As(err, &refusal) && refusal.Code != oauth.SlowDown || (err == nil) != c.accepted {
				t.Errorf("the right secret among %d wrong ones: %v", c.wrong, err)
			}
		})
	}
}

// A client may send as many requests at the same time as it likes.
func TestParallelRightSecretsAreNotThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := slowClients(func() time.Duration { return time.Second })
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				if _, err := a.App(new(http.Request), "site", "right"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}
