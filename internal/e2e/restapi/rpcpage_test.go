package restapi

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// R14: the Caddyfile for aria2 on the page, with answers as aria2 gives them.
func TestRPCDocsPageIsAccurate(t *testing.T) {
	const secret = "aria2-s3cr3t"
	t.Setenv("ARIA2_SECRET", secret)
	page, err := os.ReadFile("../../../module/rest/README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?ms)^downloads\\.example\\.com \\{\n.*?^(\tapi_rest \\{\n.*?^\t\\})$").FindSubmatch(page)
	if found == nil {
		t.Fatal("the page has no Caddyfile for aria2")
	}
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		status, answer := http.StatusBadRequest, `"error":{"code":1,"message":"Unauthorized"}`
		if call := string(body); strings.Contains(call, `"params":["token:`+secret+`"`) {
			for method, result := range map[string]string{
				"tellWaiting": `[{"gid":"a6","status":"paused"}]`, "tellStatus\",\"params\":[\"token:" + secret + "\",\"a6": `{"gid":"a6","status":"paused"}`, "remove": `"a6"`,
				"changeOption": `"OK"`, "addUri\",\"params\":[\"token:" + secret + "\",[\"https://example.org/file.iso\"],{}": `"a6"`,
			} {
				if strings.Contains(call, `"aria2.`+method) {
					status, answer = http.StatusOK, `"result":`+result
				}
			}
			if status != http.StatusOK {
				answer = `"error":{"code":1,"message":"Invalid GID x"}`
			}
		}
		w.Header().Set("Content-Type", "application/json-rpc")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"id":1,"jsonrpc":"2.0",%s}`, answer)
	})
	g := harness.Prepare(t)
	g.Start(t, strings.Replace(site, "\trespond API_REST", strings.Replace(string(found[1]), "127.0.0.1:6800", u.Addr, 1), 1))
	r := &rig{g, t, make(map[string]string)}
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/downloads?limit=1", "", 200, `{"data":[{"id":"a6","status":"paused"}],"pagination":{"total":null,"page":1,"limit":1,"total_pages":null}}`},
		{"GET", "/downloads/a6", "", 200, `{"id":"a6","status":"paused"}`},
		{"POST", "/downloads", `{"uris":["https://example.org/file.iso"]}`, 201, `{"result":"a6"}`},
		{"PATCH", "/downloads/a6", `{"limit":"1M"}`, 200, `{"result":"OK"}`},
		{"DELETE", "/downloads/a6", "", 204, ``},
		{"GET", "/downloads/x", "", 422, `{"error":{"code":"validation_failed","message":"Invalid GID x","field":null}}`},
		{"PATCH", "/downloads/a6", `{"dir":"/etc"}`, 400, `{"error":{"code":"invalid_parameter","message":"dir is not a field of this resource","field":"dir"}}`},
	} {
		p := r.do("writer", c.method, c.path, c.body)
		if p.Status != c.status || strings.TrimSpace(p.Body) != c.want || c.status == 201 && p.Header.Get("Location") != "/downloads/a6" {
			t.Errorf("%s %s: %d %v %s, want %d %s", c.method, c.path, p.Status, p.Header, p.Body, c.status, c.want)
		}
	}
	wantError(t, r.do("", "GET", "/downloads", ""), 401, "unauthorized", "")
}
