package restapi

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// While one client keeps sending bodies that take long to check, that of another is next.
func TestLargeBodiesOfOneClientDoNotDelayAnothers(t *testing.T) {
	r := laborious(t)
	send := func(token, body string) int {
		resp, err := http.DefaultClient.Do(request(t.Context(), t, r, token, body))
		if err != nil {
			t.Error(err)
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	greedy, other := r.token("writer"), r.token("editor")
	rounds := 16 * max(1, runtime.GOMAXPROCS(0)/2)
	var left atomic.Int64
	left.Store(int64(rounds))
	first, all := make(chan struct{}, rounds), make(chan struct{})
	for range rounds {
		go func() {
			if status := send(greedy, slow); status != http.StatusBadRequest && status != http.StatusServiceUnavailable {
				t.Errorf("a body that does not fit the schema: %d", status)
			}
			first <- struct{}{}
			if left.Add(-1) == 0 {
				close(all)
			}
		}()
	}
	<-first
	if status := send(other, modest); status/100 != 2 {
		t.Errorf("another client's body: %d", status)
	}
	if left.Load() < int64(rounds/4) {
		t.Errorf("another client's body was checked when only %d of %d others were left", left.Load(), rounds)
	}
	<-all
}

// Those who go away while their bodies wait to be checked do not keep anybody waiting, themselves included.
func TestLargeBodiesOfClientsThatLeaveAreNotChecked(t *testing.T) {
	r := laborious(t)
	token := r.token("writer")
	ctx, leave := context.WithTimeout(t.Context(), 2*time.Second)
	defer leave()
	var all sync.WaitGroup
	for range 100 * max(1, runtime.GOMAXPROCS(0)/2) {
		all.Go(func() {
			resp, err := http.DefaultClient.Do(request(ctx, t, r, token, slow))
			if err == nil {
				_ = resp.Body.Close()
			}
		})
	}
	all.Wait()
	begun := time.Now()
	resp, err := http.DefaultClient.Do(request(t.Context(), t, r, token, modest))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode/100 != 2 || time.Since(begun) > 5*time.Second {
		t.Errorf("%d after %v", resp.StatusCode, time.Since(begun))
	}
}

var (
	slow   = `{"list":[` + strings.Repeat("{},", 8000) + `{}]}`
	modest = `{"list":[{"x":"` + strings.Repeat("x", 20_000) + `"}]}`
)

// laborious starts a gateway whose schema has slow take long.
func laborious(t *testing.T) *rig {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	kinds := strings.TrimSuffix(strings.Repeat(`{"required":["x"]},`, 30), ",")
	if err := os.WriteFile(filepath.Join(g.Dir, "schema.json"), []byte(`{"properties":{"list":{"items":{"anyOf":[`+kinds+`]}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	g.Start(t, strings.Replace(worded("\n\tto "+u.Addr+"\n\tresource things {\n\t\tschema $DIR/schema.json\n\t}\n\t"), "\t\tclient writer {", `		client editor {
			secret editor-secret-0123456789-0123456789-0123456789
			grants client_credentials
			scopes write
			default_scopes write
		}
		client writer {`, 1))
	return &rig{g, t, make(map[string]string)}
}

func request(ctx context.Context, t *testing.T, r *rig, token, body string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.API+"/things", strings.NewReader(body))
	if err != nil {
		t.Error(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	return req
}
