package restapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// finished asks for a job until it has ended.
func (r *rig) finished(client, at string) (body string) {
	r.t.Helper()
	for begin := time.Now(); time.Since(begin) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
		p := r.do(client, http.MethodGet, at, "")
		var j struct{ State string }
		if p.Status != 200 || json.Unmarshal([]byte(p.Body), &j) != nil {
			r.t.Fatalf("%s: %d %s", at, p.Status, p.Body)
		}
		if j.State != "queued" && j.State != "running" {
			return p.Body
		}
		if p.Header.Get("Retry-After") == "" {
			r.t.Fatalf("a job that has not ended says nothing of when to ask again: %v", p.Header)
		}
	}
	r.t.Fatalf("%s has not ended", at)
	return ""
}

// R14: a job of an API that is called: what is called is settled before the 202, and what becomes of the job is
// what would have become of the request.
func TestRPCUpstreamJobs(t *testing.T) {
	media, answer := "", ""
	u := newRecorded(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		_, _ = fmt.Fprint(w, answer)
	})
	g := harness.Prepare(t)
	g.Start(t, strings.Replace(site, "respond API_REST", `api_rest {
		to `+u.Addr+`
		resource reports {
			upstream GET  /reports/{id} /rpc rpc report.get [{id}]
			upstream POST /reports      /rpc?k=1 rpc report.make [{body.subject},{body.n}]
			rename title=subject
			validate title required
			validate n integer
			idempotency
			fail_when create /error/code == 17 status 409
		}
		resource copies {
			upstream POST /copies /RPC2 xmlrpc copy.make [{body}]
		}
		job reports {
			upstream POST /rpc?k=1
			when preferred
			result /id
		}
		job copies {
			upstream POST /RPC2
			when preferred
		}
	}`, 1))
	r := &rig{g, t, make(map[string]string)}
	const call = `{"jsonrpc":"2.0","method":"report.make","params":["A \"b\"",7],"id":1}`
	ok := func(result string) string { return `{"jsonrpc":"2.0","result":` + result + `,"id":1}` }
	fault := func(code int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","error":{"code":%d,"message":"Locked by Ann","data":"10.0.0.7"},"id":1}`, code)
	}
	for _, c := range []struct{ name, answer, state, want string }{
		{"a result", ok(`{"id":12345678901234567890,"subject":"A"}`), "succeeded", `"result":12345678901234567890`},
		{"a fault", fault(12), "failed", `"error":{"code":"validation_failed","message":"Locked by Ann","field":null}`},
		{"a fault with a rule", fault(17), "failed", `"error":{"code":"conflict","message":"Locked by Ann","field":null}`},
		{"a fault of the protocol", fault(-32601), "failed", `"error":{"code":"upstream_unreachable"`},
		{"a refusal", ok(`false`), "failed", `"error":{"code":"validation_failed"`},
		{"nothing", ok(`null`), "succeeded", `"result":null`},
		{"another id", strings.Replace(ok(`{"id":1}`), `"id":1}`, `"id":2}`, 2), "failed", `"error":{"code":"upstream_error"`},
		{"what is no answer", `{}`, "failed", `"error":{"code":"upstream_error"`},
	} {
		t.Run("R14 "+c.name, func(t *testing.T) {
			media, answer = "application/json", c.answer
			p := r.do("writer", "POST", "/reports", `{"title":"A \"b\"","n":7}`, "Prefer", "respond-async")
			at := p.Header.Get("Location")
			if p.Status != 202 || !strings.HasPrefix(at, "/jobs/") || p.Header.Get("Retry-After") == "" {
				t.Fatalf("%d %v %s", p.Status, p.Header, p.Body)
			}
			got := r.finished("writer", at)
			if !strings.Contains(got, `"state":"`+c.state+`"`) || !strings.Contains(got, c.want) || strings.Contains(got, "10.0.0.7") {
				t.Errorf("%s, want %s and %s", got, c.state, c.want)
			}
			hit, sent := u.last(t)
			if sent != call || hit.URL.String() != "/rpc?k=1" || hit.Header.Get("Content-Type") != "application/json" || hit.Header.Get("Idempotency-Key") == "" {
				t.Errorf("%s %v %s", hit.URL, hit.Header, sent)
			}
			wantError(t, r.do("reader", "GET", at, ""), 404, "not_found", "")
		})
	}
	t.Run("R14 a job by XML-RPC", func(t *testing.T) {
		media = "text/xml"
		answer = `<methodResponse><params><param><value><struct><member><name>id</name><value><int>8</int></value></member></struct></value></param></params></methodResponse>`
		p := r.do("writer", "POST", "/copies", `{"of":7}`, "Prefer", "respond-async")
		if p.Status != 202 {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		if got := r.finished("writer", p.Header.Get("Location")); !strings.Contains(got, `"result":{"id":8}`) {
			t.Errorf("%s", got)
		}
		hit, sent := u.last(t)
		if want := `<?xml version="1.0"?><methodCall><methodName>copy.make</methodName><params><param><value><struct><member><name>of</name><value><int>7</int></value></member></struct></value></param></params></methodCall>`; sent != want || hit.Header.Get("Content-Type") != "text/xml" || hit.URL.Path != "/RPC2" {
			t.Errorf("%s %v %s", hit.URL, hit.Header, sent)
		}
	})
	t.Run("R14 with a key it is called once", func(t *testing.T) {
		media, answer = "application/json", ok(`{"id":9}`)
		header := []string{"Prefer", "respond-async", "Idempotency-Key", "k1"}
		first := r.do("writer", "POST", "/reports", `{"title":"A \"b\"","n":7}`, header...)
		r.finished("writer", first.Header.Get("Location"))
		again := r.do("writer", "POST", "/reports", `{"title":"A \"b\"","n":7}`, header...)
		if _, sent := u.last(t); first.Status != 202 || again.Status != 202 || again.Header.Get("Location") != first.Header.Get("Location") || sent != call {
			t.Errorf("%d %d %v %v %s", first.Status, again.Status, first.Header, again.Header, sent)
		}
	})
	for _, c := range []struct {
		path, body  string
		status      int
		code, field string
	}{
		{"/reports", `{"n":7}`, 400, "invalid_parameter", "title"},
		{"/reports", `{"title":"A","n":1.5}`, 400, "invalid_parameter", "n"},
		{"/reports", `{"title":"A","other":1}`, 400, "invalid_parameter", "other"},
		{"/reports", `{"title":"A","subject":"A"}`, 400, "invalid_parameter", "subject"},
		{"/reports", `{"title":`, 400, "bad_request", ""},
		{"/reports?k=2", `{"title":"A"}`, 400, "invalid_parameter", "k"},
		{"/copies", `{"x":"\u0001"}`, 400, "bad_request", ""},
	} {
		wantError(t, r.do("writer", "POST", c.path, c.body, "Prefer", "respond-async"), c.status, c.code, c.field)
	}
	if n := len(u.Hits()); n != 0 {
		t.Errorf("%d calls for requests that are refused", n)
	}
}
