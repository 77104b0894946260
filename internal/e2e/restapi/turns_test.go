package restapi

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// While one client keeps sending bodies that take long to check, that of another is next.
func TestLargeBodiesOfOneClientDoNotDelayAnothers(t *testing.T) {
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
	r := &rig{g, t, make(map[string]string)}
	slow := `{"list":[` + strings.Repeat("{},", 8000) + `{}]}`
	send := func(token, body string) int {
		req, err := http.NewRequest(http.MethodPost, r.API+"/things", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	greedy, modest := r.token("writer"), r.token("editor")
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
	if status := send(modest, `{"list":[{"x":"`+strings.Repeat("x", 20_000)+`"}]}`); status/100 != 2 {
		t.Errorf("another client's body: %d", status)
	}
	if left.Load() < int64(rounds/4) {
		t.Errorf("another client's body was checked when only %d of %d others were left", left.Load(), rounds)
	}
	<-all
}
