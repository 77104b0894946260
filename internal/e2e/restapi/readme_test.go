package restapi

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// blocks are the sites with an api_rest that a page shows, on the test's address.
func blocks(t *testing.T, page, upstream string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```caddyfile\n(api\\.example\\.com \\{\n\tapi_rest.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		all = append(all, "{\n"+harness.Quiet+"\n}\n"+strings.NewReplacer("api.example.com", "http://$API", "legacy:8080", upstream).Replace(m[1]))
	}
	return all
}

func TestConventionsDocsPageIsAccurate(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		body := `{"success":false,"message":"No such article"}`
		switch q.Method + " " + q.RequestURI {
		case "GET /api.php?mod=article&act=list&count=1&start=1":
			body = `{"success":true,"result":{"list":[{"aid":8,"subject":"Maps"}],"total":"31"}}`
		case "POST /api.php?mod=article&act=add":
			body = `{"success":true,"result":{"aid":32,"subject":"` + q.FormValue("subject") + `"}}`
		case "GET /api.php?mod=article&act=get&aid=99":
		default:
			t.Errorf("%s %s", q.Method, q.RequestURI)
		}
		says("application/json", body)(w, q)
	})
	found := blocks(t, "../../../module/rest/README.md", u.Addr)
	if len(found) != 1 {
		t.Fatalf("%d sites on the page", len(found))
	}
	r := &rig{harness.Start(t, found[0]), t, nil}
	p := r.do("", http.MethodGet, "/articles?page=2&limit=1", "")
	if p.Status != 200 || p.Body != `{"data":[{"id":8,"title":"Maps",`+selfLink("/articles/8")+`}],"pagination":{"total":31,"page":2,"limit":1,"total_pages":31}}` || p.Header.Get("Link") == "" {
		t.Errorf("%d %v %s", p.Status, p.Header, p.Body)
	}
	p = r.do("", http.MethodPost, "/articles", `{"title":"Tides"}`)
	if p.Status != 201 || p.Header.Get("Location") != "/articles/32" || p.Body != `{"id":32,"title":"Tides",`+selfLink("/articles/32")+`}` {
		t.Errorf("%d %v %s", p.Status, p.Header, p.Body)
	}
	wantError(t, r.do("", http.MethodGet, "/articles/99", ""), 422, "validation_failed", "")
	u.Hits()
	wantError(t, r.do("", http.MethodGet, "/articles?page=x", ""), 400, "invalid_parameter", "page")
	wantError(t, r.do("", http.MethodDelete, "/articles", ""), 405, "method_not_allowed", "")
	wantError(t, r.do("", http.MethodGet, "/api.php", ""), 404, "not_found", "")
	if n := len(u.Hits()); n != 0 {
		t.Errorf("%d requests were sent that are refused", n)
	}
}

func TestFrontPageREADMEIsAccurate(t *testing.T) {
	u := harness.NewUpstream(t)
	found := blocks(t, "../../../README.md", u.Addr)
	if len(found) != 2 {
		t.Fatalf("%d sites on the page", len(found))
	}
	r := &rig{harness.Start(t, found[0]), t, nil}
	if p := r.do("", http.MethodGet, "/articles/7", ""); p.Status != 200 || p.Body != `{"ok":true}` {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantError(t, r.do("", http.MethodDelete, "/articles", ""), 405, "method_not_allowed", "")
	wantError(t, r.do("", http.MethodGet, "/other", ""), 404, "not_found", "")
	u.Answer(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<h1>Gone fishing</h1>", http.StatusServiceUnavailable)
	})
	wantError(t, r.do("", http.MethodGet, "/articles/7", ""), 503, "unavailable", "")

	r.Load(t, found[1])
	u.Answer(says("application/json", `{"success":true,"result":{"aid":7,"subject":"Maps"}}`))
	if p := r.do("", http.MethodGet, "/articles/7", ""); p.Status != 200 || p.Body != `{"id":7,"title":"Maps"}` {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p := r.do("", http.MethodDelete, "/articles/7", ""); p.Status != 204 {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	u.Answer(says("application/json", `{"success":false,"message":"Locked"}`))
	wantError(t, r.do("", http.MethodDelete, "/articles/7", ""), 422, "validation_failed", "")
}
