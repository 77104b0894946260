package jobs

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// once fails when a job reached the upstream more than once.
func (r *rig) once(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	for _, a := range r.upstream.arrivals() {
		id := a.header.Get("Idempotency-Key")
		if seen[id] {
			t.Errorf("job %s was run twice", id)
		}
		seen[id] = true
	}
}

func TestKillWhileJobsWaitAndRun(t *testing.T) {
	r := prepare(t)
	page := with(imports, "workers 1")
	at := files(t, lines)
	p := r.Run(t, page)
	r.upstream.hold()
	runs, waits, waitsToo := r.submit("one", at), r.submit("one", at), r.submit("two", at)
	r.upstream.awaitArrivals(t, 1)
	p.Kill()
	p = r.Run(t, page)
	r.upstream.awaitArrivals(t, 2) // the next one does not wait for the lease of the first
	if s := read(t, r.do("one", http.MethodGet, runs, ""), 200); s.State != "running" {
		t.Errorf("%+v", s)
	}
	if p := r.do("two", http.MethodGet, runs, ""); p.Status != 404 {
		t.Errorf("another client: %d", p.Status)
	}
	r.upstream.release()
	r.await("one", waits, "succeeded")
	r.await("two", waitsToo, "succeeded")
	if s := r.awaitFor(40*time.Second, "one", runs, "failed"); s.Error == nil || s.Error.Code != "interrupted" {
		t.Errorf("%+v", s)
	}
	r.once(t)

	t.Run("stopped as an operator does", func(t *testing.T) {
		r.upstream.hold()
		n := len(r.upstream.arrivals())
		runs, waits := r.submit("one", at), r.submit("one", at)
		r.upstream.awaitArrivals(t, n+1)
		p.Stop()
		r.Run(t, page)
		// Who ends knows that it does: nobody waits for a lease.
		if s := read(t, r.do("one", http.MethodGet, runs, ""), 200); s.State != "failed" || s.Error.Code != "interrupted" {
			t.Errorf("%+v", s)
		}
		r.upstream.release()
		r.await("one", waits, "succeeded")
		r.once(t)
	})
}

func TestInterruptedJobIsRetriedWhereConfigured(t *testing.T) {
	r := prepare(t)
	page := with(imports, "retry 1")
	p := r.Run(t, page)
	r.upstream.hold()
	made := r.submit("one", files(t, lines))
	r.upstream.awaitArrivals(t, 1)
	p.Kill()
	r.Run(t, page)
	r.upstream.awaitArrivals(t, 1)
	r.upstream.release()
	r.awaitFor(40*time.Second, "one", made, "succeeded")
	came := r.upstream.arrivals()
	if len(came) != 2 || came[0].header.Get("Idempotency-Key") != came[1].header.Get("Idempotency-Key") {
		t.Errorf("%d requests", len(came))
	}
}

func TestReloadNeitherLosesNorRepeatsJobs(t *testing.T) {
	r := start(t, imports, "workers 2")
	at := files(t, lines)
	r.upstream.hold()
	var made []string
	for i := range 4 {
		for range 3 {
			made = append(made, r.submit("one", at))
		}
		r.Load(t, with(imports, "workers 2", "keep "+[]string{"1h", "2h", "3h", "4h"}[i]))
	}
	if p := r.do("one", http.MethodDelete, made[0], ""); p.Status != 204 { // it runs under the first configuration
		t.Errorf("%d %s", p.Status, p.Body)
	}
	for end := time.Now().Add(5 * time.Second); r.upstream.givenUp() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a job of a configuration that is gone is not cancelled")
		}
	}
	r.upstream.release()
	for _, m := range made[1:] {
		r.await("one", m, "succeeded")
	}
	r.once(t)
	t.Run("two sites do not share a queue unawares", func(t *testing.T) {
		two := strings.Replace(with(imports), "http://$API {", "http://$API/a {", 1)
		two += strings.Replace(with(imports, "keep 2h")[strings.Index(with(imports, "keep 2h"), "http://$API {"):], "http://$API {", "http://$API/b {", 1)
		if err := r.TryLoad(two); err == nil || !strings.Contains(err.Error(), "import-jobs") || !strings.Contains(err.Error(), "name") {
			t.Error(err)
		}
	})
	t.Run("nor do two jobs of a site", func(t *testing.T) {
		two := with("job one {\n\t\tupstream POST /one\n\t\tname x\n\t}\n\tjob two {\n\t\tupstream POST /two\n\t\tname x\n\t}")
		if err := r.TryLoad(two); err == nil || !strings.Contains(err.Error(), "job two") || !strings.Contains(err.Error(), "name") {
			t.Error(err)
		}
	})
}
