package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func init() { caddy.RegisterModule(new(faulty)) }

// faulty is a store in memory that a test can make fail.
type faulty struct{}

var faultyStore atomic.Pointer[storetest.Memory]

func (*faulty) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.stores.faulty", New: func() caddy.Module { return new(faulty) }}
}

func (*faulty) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { d.Next(); return nil }

func (*faulty) Identity() any { return faultyStore.Load() }

func (*faulty) Open(context.Context) (store.Backend, error) { return faultyStore.Load(), nil }

func TestStoreOutageIsNotAJobAnswer(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_SECRET", "a master secret of the tests, 0123456789")
	m := storetest.NewMemory(nil)
	faultyStore.Store(m)
	r := prepare(t)
	r.Start(t, strings.Replace(with(imports), "store bolt $DIR/state.db", "store faulty\n\t\tsecret {env.GATEHOUSE_TEST_SECRET}", 1))
	at := files(t, lines)
	r.upstream.hold()
	made := r.submit("one", at)
	r.upstream.awaitArrivals(t, 1)
	m.Fail(errors.New("away"))
	for _, c := range [][]string{{http.MethodPost, "/import-jobs", fetching(at)}, {http.MethodGet, made, ""}, {http.MethodDelete, made, ""}} {
		p := r.do("one", c[0], c[1], c[2])
		wantCode(t, p, 503, "unavailable", "")
		if p.Header.Get("Retry-After") == "" || strings.Contains(p.Body, "away") {
			t.Errorf("%s: %v %s", c[0], p.Header, p.Body)
		}
	}
	r.upstream.release() // the upstream is done while the store is away
	m.Fail(nil)
	r.await("one", made, "succeeded")
	r.once(t)
}

// A file of any size passes through in a memory that does not grow with it.
func TestALargeFileIsNeverInMemory(t *testing.T) {
	size := int64(24 << 20)
	if os.Getenv("GATEHOUSE_SOAK") != "" {
		size = 200 << 20
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"bytes":%d,"whole":%t}`, n, err == nil)
	}))
	defer upstream.Close()
	r := &rig{Gateway: harness.Prepare(t, "$UPSTREAM", upstream.Listener.Addr().String()), t: t, tokens: make(map[string]string)}
	at := files(t, func(w http.ResponseWriter, q *http.Request) {
		n := size
		if q.URL.Path == "/small" {
			n = 1 << 20
		}
		w.Header().Set("Content-Length", fmt.Sprint(n))
		block := make([]byte, 64<<10)
		for ; n > 0; n -= int64(len(block)) {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	t.Setenv("GOGC", "100") // otherwise garbage may take more than what is measured
	p := r.Run(t, with(strings.Replace(imports, "max 1MiB timeout 5s", "max 300MiB timeout 5m", 1)))
	r.await("one", r.submit("one", at+"/small"), "succeeded")
	before, begun := memory(t, p.PID()), time.Now()
	s := r.awaitFor(limitOf(size), "one", r.submit("one", at+"/large"), "succeeded")
	if want := fmt.Sprintf(`{"bytes":%d,"whole":true}`, size); string(s.Result) != want {
		t.Errorf("%s, want %s", s.Result, want)
	}
	after, took := memory(t, p.PID()), time.Since(begun)
	t.Logf("%d MiB in %v, %.0f MiB/s: the most resident memory went from %d to %d KiB", size>>20, took.Round(time.Millisecond), float64(size>>20)/took.Seconds(), before, after)
	if after-before > 32<<10 {
		t.Errorf("the memory grew by %d KiB", after-before)
	}
}
