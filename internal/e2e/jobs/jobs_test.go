package jobs

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func wantCode(t *testing.T, p harness.Page, status int, code, field string) {
	t.Helper()
	s := read(t, p, status)
	if s.Error == nil || s.Error.Code != code || (field == "") != (s.Error.Field == nil) || field != "" && *s.Error.Field != field {
		t.Errorf("%d %s, want %s %q", p.Status, p.Body, code, field)
	}
}

// uuid4 is the only text that some APIs take for a key.
var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestJobs(t *testing.T) {
	r := start(t, imports, "per_client 10", "queue 12", "workers 2", "result /result/imported")
	at := files(t, lines) + "/articles.csv"
	forbidden := files(t, lines, "127.0.0.2:0")

	t.Run("who calls is told to the upstream, and no credential", func(t *testing.T) {
		made := r.submit("one", at)
		r.await("one", made, "succeeded")
		came := r.upstream.arrivals()[0]
		h := came.header
		if h.Get("X-Auth-Client") != "one" || h.Get("X-Auth-Scopes") != "imports" || h.Get("Authorization") != "" || h.Get("Content-Type") != "text/csv; charset=utf-8" ||
			h.Get("Content-Disposition") != "attachment; filename=articles.csv" || !uuid4.MatchString(h.Get("Idempotency-Key")) || came.length != 33 || came.err != nil {
			t.Errorf("%+v", came)
		}
	})
	t.Run("what can be known before the 202 is told at once, with the field", func(t *testing.T) {
		for _, address := range []string{
			"https://10.0.0.1/a", "https://169.254.169.254/", "https://2130706433/", "https://[::1]/", "https://[::ffff:127.0.0.2]/", "http://127.0.0.1/",
			"https://user@127.0.0.1/", "file:///etc/passwd", forbidden, "",
		} {
			wantCode(t, r.do("one", http.MethodPost, "/import-jobs", fetching(address)), 400, "invalid_parameter", "file_url")
		}
		for body, field := range map[string]string{
			`{}`: "file_url", `{"file_url":1}`: "file_url", `{"file_url":"https://127.0.0.1/","file_url":"https://127.0.0.1/"}`: "file_url", `{"file_url":"https://127.0.0.1/","x":1}`: "x",
		} {
			wantCode(t, r.do("one", http.MethodPost, "/import-jobs", body), 400, "invalid_parameter", field)
		}
		for _, body := range []string{`[]`, `{`, `{"file_url":"https://127.0.0.1/"} x`, `{"file_url":"https://127.0.0.1/"`} {
			wantCode(t, r.do("one", http.MethodPost, "/import-jobs", body), 400, "bad_request", "")
		}
		wantCode(t, r.do("one", http.MethodPost, "/import-jobs", "x", "Content-Type", "text/plain"), 415, "unsupported_media_type", "")
		wantCode(t, r.do("one", http.MethodGet, "/import-jobs", ""), 405, "method_not_allowed", "")
		if n := len(r.upstream.arrivals()); n != 1 {
			t.Errorf("%d requests reached the upstream", n)
		}
	})
	t.Run("the rest makes a job that fails and says why", func(t *testing.T) {
		redirect := func(to string) string {
			return files(t, func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, to, http.StatusFound) })
		}
		for code, address := range map[string]string{
			"file_forbidden":   redirect(redirect(forbidden)),
			"file_redirects":   redirect("http://127.0.0.1/"),
			"file_refused":     files(t, http.NotFound),
			"file_unreachable": "https://127.0.0.1:9/",
			"file_too_large":   files(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) }),
			"file_incomplete": files(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1000")
				_, _ = w.Write([]byte("half"))
			}),
		} {
			s := r.await("one", r.submit("one", address), "failed")
			if s.Error == nil || s.Error.Code != code || s.Result != nil {
				t.Errorf("%+v %+v, want %s", s, s.Error, code)
			}
		}
		for _, a := range r.upstream.arrivals()[1:] {
			if a.err == nil {
				t.Errorf("the upstream took part of a file for a whole one: %+v", a)
			}
		}
	})
	t.Run("what the upstream says of it is the job's", func(t *testing.T) {
		defer r.upstream.set(nil)
		r.upstream.set(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(422)
			_, _ = w.Write([]byte(`{"error":{"code":"import_failed","message":"Line 2 is no article.","field":null}}`))
		})
		if s := r.await("one", r.submit("one", at), "failed"); s.Error.Code != "import_failed" || s.Error.Message != "Line 2 is no article." {
			t.Errorf("%+v", s.Error)
		}
		r.upstream.set(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		if s := r.await("one", r.submit("one", at), "failed"); s.Error.Code != "upstream_unreachable" && s.Error.Code != "upstream_error" {
			t.Errorf("%+v", s.Error)
		}
	})
	t.Run("wait", func(t *testing.T) {
		p := r.do("one", http.MethodPost, "/import-jobs", fetching(at), "Prefer", "respond-async, wait=20")
		if s := read(t, p, 200); s.State != "succeeded" || p.Header.Get("Preference-Applied") != "respond-async, wait=20" || p.Header.Get("Location") == "" {
			t.Errorf("%v %s", p.Header, p.Body)
		}
		r.upstream.hold()
		p = r.do("one", http.MethodPost, "/import-jobs", fetching(at), "Prefer", "wait=1")
		s := read(t, p, 202)
		r.upstream.release()
		r.await("one", "/jobs/"+s.ID, "succeeded")
	})
	t.Run("a job is its owner's", func(t *testing.T) {
		made := r.submit("one", at)
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			other, none := r.do("two", method, made, ""), r.do("two", method, "/jobs/"+strings.Repeat("0", 34), "")
			if other.Status != 404 || other.Body != none.Body || none.Status != 404 {
				t.Errorf("%s: %d %s, %d %s", method, other.Status, other.Body, none.Status, none.Body)
			}
		}
		wantCode(t, r.do("one", http.MethodGet, "/jobs/"+strings.Repeat("a", 5000), ""), 404, "not_found", "")
		if p := r.do("", http.MethodGet, made, ""); p.Status != 401 {
			t.Error(p.Status)
		}
		r.await("one", made, "succeeded")
	})
	t.Run("cancelled while it runs, waits or has ended", func(t *testing.T) {
		r.upstream.hold()
		before := len(r.upstream.arrivals())
		var made []string
		for range 3 {
			made = append(made, r.submit("one", at))
		}
		r.upstream.awaitArrivals(t, before+2)
		given := r.upstream.givenUp()
		for _, m := range []string{made[2], made[0], made[0]} {
			if p := r.do("one", http.MethodDelete, m, ""); p.Status != 204 {
				t.Errorf("%d %s", p.Status, p.Body)
			}
		}
		for end := time.Now().Add(5 * time.Second); r.upstream.givenUp() == given; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the upstream's request goes on")
			}
		}
		r.upstream.release()
		if s := r.await("one", made[1], "succeeded"); s.State != "succeeded" {
			t.Error(s)
		}
		wantCode(t, r.do("one", http.MethodDelete, made[1], ""), 409, "conflict", "")
		for _, m := range []string{made[0], made[2]} {
			if s := r.await("one", m, "cancelled"); s.Result != nil || s.Error != nil || s.Finished == nil {
				t.Errorf("%+v", s)
			}
		}
		if n := len(r.upstream.arrivals()); n != before+2 {
			t.Errorf("%d imports were begun, a cancelled one among them", n-before)
		}
	})
	t.Run("no more jobs than there is room for", func(t *testing.T) {
		r.upstream.hold()
		defer r.upstream.release()
		var all sync.WaitGroup
		var mu sync.Mutex
		counts := map[string]int{}
		accepted := map[string]string{}
		for i := range 64 {
			who := []string{"one", "two"}[i%2]
			all.Go(func() {
				p := r.do(who, http.MethodPost, "/import-jobs", fetching(at))
				mu.Lock()
				defer mu.Unlock()
				counts[fmt.Sprint(p.Status)]++
				if p.Status == 202 {
					accepted[p.Header.Get("Location")] = who
				} else if p.Header.Get("Retry-After") == "" {
					t.Errorf("%d without Retry-After", p.Status)
				}
			})
		}
		all.Wait()
		if counts["202"] != 12 || counts["503"]+counts["429"] != 52 || counts["503"] == 0 {
			t.Errorf("%v", counts)
		}
		r.upstream.release()
		for m, who := range accepted {
			r.awaitFor(40*time.Second, who, m, "succeeded")
		}
		seen := map[string]int{}
		for _, a := range r.upstream.arrivals() {
			if seen[a.header.Get("Idempotency-Key")]++; seen[a.header.Get("Idempotency-Key")] > 1 {
				t.Error("a job was run twice")
			}
		}
	})
}
