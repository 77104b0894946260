package clientauth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// oneApp has one client of Variant B, and one of OAuth.
type oneApp map[string]*oauth.Client

func (a oneApp) Client(_ context.Context, id string) (*oauth.Client, bool, error) {
	c, ok := a[id]
	return c, ok, nil
}

// The answers differ, for the libraries' sake; what is timed must not say more than they.
// Secrets of some kilobytes, so that what is done with them is what takes the time.
func TestUnknownAppIDTakesTheTimeOfAWrongSecret(t *testing.T) { // B05
	long := string(make([]byte, maxPart))
	apps := oneApp{
		"site": {ID: "site", VariantB: true, SecretHashes: []string{secret.Digest("right")}},
		"web":  {ID: "web", SecretHashes: []string{secret.Digest("right")}},
	}
	a := &Authenticator{
		FindClient: apps.Client, Audit: audit.Discard{}, Unknown: func(context.Context, string) string { return "" }, Now: time.Now,
		Attempts: lockout.NewBook(16, time.Now), Failures: 1 << 30, ClientIP: func(*http.Request) string { return "192.0.2.1" },
		Store: storetest.NewMemory(nil), Audience: []string{"https://id.example"},
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://id.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"site", "nobody", "web"}
	const tolerance = 0.25
	for try := 1; ; try++ {
		quickest := make([]time.Duration, len(kinds))
		for range 400 { // interleaved: whatever else the machine does can only add to one
			for i, id := range kinds {
				begun := time.Now()
				for range 10 {
					if _, err := a.App(r, id, long); err == nil || errors.Is(err, ErrUnknownApp) != (id != "site") {
						t.Fatalf("%s: %v", id, err)
					}
				}
				if took := time.Since(begun); quickest[i] == 0 || took < quickest[i] {
					quickest[i] = took
				}
			}
		}
		least, most := slices.Min(quickest), slices.Max(quickest)
		if float64(most-least) < tolerance*float64(most) {
			return
		}
		if try == 5 {
			t.Fatalf("%v of %v", quickest, kinds)
		}
	}
}
