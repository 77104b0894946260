package gateway

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestTokensOfALockedOrDeletedUserAreRefused(t *testing.T) {
	for name, change := range map[string]*strings.Replacer{
		"locked":  strings.NewReplacer(`"name":"Alice"`, `"name":"Alice","locked":true`),
		"deleted": strings.NewReplacer(`"u-1"`, `"u-9"`, `"alice"`, `"alicia"`),
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := start(t)
			access, _ := tokens(t, g, web)
			if p := g.Call(t, http.MethodGet, "/read", access); p.Status != http.StatusOK {
				t.Fatalf("%d %s", p.Status, p.Body)
			}
			g.WriteFile(t, "users.json", change.Replace(users))
			deadline := time.Now().Add(5 * time.Second)
			for {
				p := g.Call(t, http.MethodGet, "/read", access)
				if p.Status == http.StatusUnauthorized {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("still %d", p.Status)
				}
				time.Sleep(50 * time.Millisecond)
			}
			// The application's own token is nobody's.
			p := g.Token(t, machine, credentialsForm)
			own, _ := p.JSON(t)["access_token"].(string)
			if p := g.Call(t, http.MethodGet, "/read", own); p.Status != http.StatusOK {
				t.Errorf("%d %s", p.Status, p.Body)
			}
		})
	}
}
