package jobs

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// trailed is a page whose audit trail is in a file.
func trailed(page string) string {
	return strings.Replace(page, harness.Quiet, harness.Quiet+`
	log audit {
		output file $DIR/audit.log
		include gatehouse.audit
	}`, 1)
}

// trail are the lines of the events, in their order, when there are so many.
func (r *rig) trail(n int, events ...string) (all []map[string]string) {
	r.t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		raw, err := os.ReadFile(filepath.Join(r.Dir, "audit.log"))
		all = nil
		for line := range strings.Lines(string(raw)) {
			m := map[string]any{}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				r.t.Fatalf("%v: %s", err, line)
			}
			texts := map[string]string{}
			for name, value := range m {
				texts[name], _ = value.(string)
			}
			for _, e := range events {
				if texts["event"] == e {
					all = append(all, texts)
				}
			}
		}
		if len(all) >= n {
			return all
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%d lines of %v, want %d: %v %s", len(all), events, n, err, raw)
		}
	}
}

func TestJobOutcomesAreCountedAndAudited(t *testing.T) {
	r := prepare(t)
	r.Start(t, trailed(with(imports, "per_client 2", "queue 3")))
	const secret = "X-Amz-Signature=canary-0123456789"
	at := files(t, lines) + "/a.csv?" + secret
	metrics := map[string]float64{}
	count := func(series string) float64 { return r.Metric(t, "caddy_gatehouse_"+series) }
	outcomes := []string{
		`rest_jobs_total{outcome="accepted",queue="import-jobs"}`, `rest_jobs_total{outcome="succeeded",queue="import-jobs"}`, `rest_jobs_total{outcome="failed",queue="import-jobs"}`,
		`rest_jobs_total{outcome="cancelled",queue="import-jobs"}`, `rest_jobs_total{outcome="client_full",queue="import-jobs"}`, `rest_jobs_total{outcome="queue_full",queue="import-jobs"}`,
		`rest_job_files_total{outcome="passed"}`, `rest_job_files_total{outcome="forbidden"}`, `rest_job_files_total{outcome="refused"}`, `rest_job_files_total{outcome="incomplete"}`,
	}
	for _, o := range outcomes { // the process has run other tests
		metrics[o] = count(o)
	}

	good := r.submit("one", at)
	r.await("one", good, "succeeded")
	missing := r.submit("one", files(t, http.NotFound)+"/?"+secret)
	r.await("one", missing, "failed")
	half := r.submit("one", files(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("half"))
	}))
	r.await("one", half, "failed")
	private := files(t, lines, "127.0.0.2:0") + "/?" + secret
	read(t, r.do("two", http.MethodPost, "/import-jobs", fetching(private)), 400)
	inside := r.submit("two", files(t, func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, private, http.StatusFound) }))
	r.await("two", inside, "failed")
	read(t, r.do("two", http.MethodPost, "/import-jobs", fetching("http://127.0.0.1/")), 400) // how it is written, not where it leads
	r.upstream.hold()
	before := len(r.upstream.arrivals())
	stopped, other := r.submit("one", at), r.submit("one", at)
	r.upstream.awaitArrivals(t, before+2)
	if running := count(`rest_jobs_running{queue="import-jobs"}`); running != 2 {
		t.Errorf("%v jobs run", running)
	}
	read(t, r.do("one", http.MethodPost, "/import-jobs", fetching(at)), 429)
	third := r.submit("two", at)
	read(t, r.do("two", http.MethodPost, "/import-jobs", fetching(at)), 503)
	await := func(series string, want float64) {
		for deadline := time.Now().Add(5 * time.Second); count(series) != want; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v, want %v", series, count(series), want)
			}
		}
	}
	await(`rest_jobs_unfinished{queue="import-jobs"}`, 3)
	if p := r.do("one", http.MethodDelete, stopped, ""); p.Status != 204 {
		t.Fatal(p.Status, p.Body)
	}
	r.upstream.release()
	r.await("one", other, "succeeded")
	r.await("two", third, "succeeded")

	id := func(path string) string { return strings.TrimPrefix(path, "/jobs/") }
	ended := map[string][2]string{
		id(good): {"one", "succeeded"}, id(missing): {"one", "failed"}, id(half): {"one", "failed"}, id(inside): {"two", "failed"},
		id(stopped): {"one", "cancelled"}, id(other): {"one", "succeeded"}, id(third): {"two", "succeeded"},
	}
	accepted := r.trail(len(ended), "job_accepted")
	for _, l := range accepted {
		if l["client"] != ended[l["job"]][0] || l["reason"] != "import-jobs" || l["ip"] != "127.0.0.1" || !regexp.MustCompile(`^[0-9a-f-]{36}$`).MatchString(l["request_id"]) {
			t.Errorf("accepted: %v", l)
		}
	}
	for _, l := range r.trail(len(ended), "job_ended") {
		if e := ended[l["job"]]; l["client"] != e[0] || l["reason"] != e[1] || (l["ip"] != "") != (e[1] == "cancelled") {
			t.Errorf("ended: %v, want %v", l, e)
		}
		delete(ended, l["job"])
	}
	if len(ended) != 0 || len(accepted) != 7 {
		t.Errorf("no end, or two, of %v; %d accepted", ended, len(accepted))
	}
	forbidden := r.trail(2, "file_forbidden")
	if len(forbidden) != 2 || forbidden[0]["client"] != "two" || forbidden[0]["job"] != "" || forbidden[0]["ip"] != "127.0.0.1" || forbidden[1]["job"] != id(inside) {
		t.Errorf("%v", forbidden)
	}
	raw, err := os.ReadFile(filepath.Join(r.Dir, "audit.log"))
	if err != nil || strings.Contains(string(raw), "canary") || strings.Contains(string(raw), "https://") {
		t.Errorf("an address is in the trail: %v %s", err, raw)
	}
	for i, want := range []float64{7, 3, 3, 1, 1, 1, 3, 2, 1, 1} {
		if got := count(outcomes[i]) - metrics[outcomes[i]]; got != want {
			t.Errorf("%s: %v, want %v", outcomes[i], got, want)
		}
	}
	await(`rest_jobs_unfinished{queue="import-jobs"}`, 0)
	await(`rest_jobs_running{queue="import-jobs"}`, 0)
}

// Without a guard whoever knows a job's ID may read it: the trail does not tell it.
func TestAuditTrailOmitsIDsOfOwnerlessJobs(t *testing.T) {
	r := prepare(t)
	page := with(imports)
	from, to := strings.Index(page, "\toauth_guard"), strings.Index(page, "\tapi_rest")
	r.Start(t, trailed(page[:from]+page[to:]))
	p := r.do("", http.MethodPost, "/import-jobs", fetching(files(t, lines)))
	made := read(t, p, 202)
	r.await("", p.Header.Get("Location"), "succeeded")
	for _, l := range r.trail(2, "job_accepted", "job_ended") {
		if l["job"] != "" || l["client"] != "" {
			t.Errorf("%v", l)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(r.Dir, "audit.log")); err != nil || strings.Contains(string(raw), made.ID) {
		t.Errorf("%v %s", err, raw)
	}
}
