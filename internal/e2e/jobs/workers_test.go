package jobs

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// slow is an upstream that counts the jobs it has, and ends them one by one.
type slow struct {
	mu  sync.Mutex
	now int
	end chan struct{}
}

func (s *slow) add(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += n
	return s.now
}

func (s *slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.add(1)
	defer s.add(-1)
	select {
	case <-s.end:
	case <-r.Context().Done():
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{}`))
}

// settles waits until n jobs run, and fails if more run within the time in which waiting jobs are looked for.
func (s *slow) settles(t *testing.T, n int, when string) {
	t.Helper()
	s.await(t, n, when)
	for end := time.Now().Add(2500 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if got := s.add(0); got > n {
			t.Fatalf("%s: %d jobs run, want %d", when, got, n)
		}
	}
	s.await(t, n, when)
}

func (s *slow) await(t *testing.T, n int, when string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); s.add(0) != n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: %d jobs run, want %d", when, s.add(0), n)
		}
	}
}

// The API has as many jobs at a time as `workers` says, however many ports the site has and however often it is reloaded.
func TestPortsAndReloadsAddNoWorkers(t *testing.T) {
	u, api := newUpstream(t), &slow{end: make(chan struct{})}
	u.set(api.ServeHTTP)
	ports := harness.FreePorts(t, 2)
	second, third := fmt.Sprintf("localhost:%d", ports[0]), fmt.Sprintf("localhost:%d", ports[1])
	r := &rig{Gateway: harness.Prepare(t, "$UPSTREAM", u.addr, "$SECOND", second, "$THIRD", third), t: t, upstream: u, tokens: make(map[string]string)}
	page := func(words ...string) string {
		return strings.Replace(with(body, words...), "http://$API {", "http://$API, http://$SECOND, http://$THIRD {", 1)
	}
	r.Start(t, page())
	finish := sync.OnceFunc(func() { close(api.end) })
	defer finish()
	addresses := []string{r.API, "http://" + second, "http://" + third}
	made := make(map[string]string) // the client of each job
	submit := func(who string, n int) {
		t.Helper()
		for i := range n {
			r.API = addresses[i%len(addresses)]
			p := r.do(who, http.MethodPost, "/import-jobs", fmt.Sprintf(`{"n":%d}`, len(made)))
			read(t, p, 202)
			made[p.Header.Get("Location")] = who
		}
	}
	submit("one", 14)
	api.settles(t, 3, "one client, three ports")
	for range 3 {
		r.Load(t, page("keep "+fmt.Sprint(len(made))+"h"))
		submit("one", 1)
	}
	api.settles(t, 3, "one client, three ports and three reloads")
	submit("two", 2)
	api.settles(t, 4, "two clients")
	if got := r.Metric(t, `caddy_gatehouse_rest_jobs_running{queue="import-jobs"}`); got != 4 {
		t.Errorf("metric: %v", got)
	}
	r.Load(t, page("workers 2"))
	submit("two", 2)
	api.end <- struct{}{}
	api.settles(t, 3, "two workers are left of four, and one job has ended")
	for range 2 {
		api.end <- struct{}{}
	}
	api.settles(t, 2, "two workers")
	r.Load(t, page("workers 5"))
	api.settles(t, 5, "five workers")
	finish()
	for at, who := range made {
		r.await(who, at, "succeeded")
	}
	r.once(t)
	for end := time.Now().Add(5 * time.Second); r.Metric(t, `caddy_gatehouse_rest_jobs_running{queue="import-jobs"}`) != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the metric has jobs although none runs")
		}
	}
}
