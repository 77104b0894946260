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

const nested = `
	resource students {
		upstream GET /students /api.php?mod=student&act=list
		list {
			filter year
			items /result/list
		}
		nested friends {
			upstream DELETE /students/{id}/friends/{sub_id} POST /api.php?mod=student&act=unfriend&sid={id}&fid={sub_id}
			deleted 204
		}
	}
	resource reports {
		schema $DIR/report.json
		idempotency
		etag
		created 201
		validate /author/name required length 1..9
		nested notes {
			nested marks
		}
	}
	job import-jobs {
		upstream POST /api.php?mod=import
		fetch file_url max 200MiB
	}
	job reports {
		upstream POST /api.php?mod=report
		when preferred
	}
	job mails {
		upstream POST /api.php?mod=mail
	}
	openapi "Town library"
`

// describing is a gateway that describes the sample, with a batch, nested resources and jobs.
func describing(t *testing.T) *rig {
	t.Helper()
	g := harness.Prepare(t, "$LEGACY", legacy(t))
	g.WriteFile(t, "report.json", `{"type": "object", "required": ["text"], "properties": {"id": {"type": "integer", "readOnly": true}, "text": {"type": ["string", "null"]},
		"parts": {"type": "array", "items": {"$ref": "#"}}, "due": {"$ref": "#/$defs/day"}, "sum": {"type": "number", "multipleOf": 0.01}}, "$defs": {"day": {"type": "string", "format": "date", "description": "A day."}}}`)
	words := strings.Replace(sample, "links self delete", "links self delete\n\t\tbatch title state\n\t\tidempotency", 1) + nested
	g.Start(t, strings.Replace(worded(words), "public * /open /open/*", "public GET /openapi.json /openapi /v1/openapi.json /v1/openapi /students", 1))
	return &rig{g, t, make(map[string]string)}
}

func TestAPIIsDescribed(t *testing.T) {
	r := describing(t)
	p := r.do("", http.MethodGet, "/v1/openapi.json", "")
	var d struct {
		OpenAPI string
		Info    struct{ Title, Version string }
		Servers []struct{ URL string }
		Paths   map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema struct{ Enum []string }
			}
			Security  []map[string][]string
			Responses map[string]any
		}
		Components struct {
			SecuritySchemes map[string]struct {
				Flows map[string]struct{ TokenURL string }
			}
			Schemas map[string]struct {
				Properties map[string]struct {
					MinLength, MaxLength int
					Enum                 []string
				}
			}
		}
	}
	raw := withoutPathParameters(t, p.Body)
	if err := json.Unmarshal([]byte(raw), &d); err != nil || p.Status != 200 || p.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%v %d %s", err, p.Status, p.Body)
	}
	if d.OpenAPI != "3.1.0" || d.Info.Title != "Town library" || d.Info.Version != "v1" || d.Servers[0].URL != "/v1" {
		t.Errorf("%+v", d.Info)
	}
	var operations []string
	for path, item := range d.Paths {
		for method := range item {
			operations = append(operations, method+" "+path)
		}
	}
	if len(operations) != 33 {
		t.Errorf("%d operations: %v", len(operations), operations)
	}
	list := d.Paths["/articles"]["get"]
	if fmt.Sprint(list.Parameters) != "[{page {[]}} {limit {[]}} {sort {[created_at -created_at title -title]}} {state {[published draft]}}]" {
		t.Errorf("%v", list.Parameters)
	}
	for op, want := range map[string]string{"get": "[map[oauth2:[read]]]", "post": "[map[oauth2:[write]]]", "patch": "[map[oauth2:[write]]]"} {
		if got := fmt.Sprint(d.Paths["/articles"][op].Security); got != want {
			t.Errorf("%s needs %s, want %s", op, got, want)
		}
	}
	for op, status := range map[string]string{"post /articles": "201", "patch /articles": "207", "delete /articles/{id}": "204", "post /import-jobs": "202", "get /jobs/{id}": "200"} {
		method, path, _ := strings.Cut(op, " ")
		if d.Paths[path][method].Responses[status] == nil {
			t.Errorf("%s: no %s in %v", op, status, d.Paths[path][method].Responses)
		}
	}
	if title := d.Components.Schemas["ArticlesInput"].Properties["title"]; title.MinLength != 5 || title.MaxLength != 100 {
		t.Errorf("%+v", title)
	}
	if s := d.Components.SecuritySchemes["oauth2"].Flows["clientCredentials"].TokenURL; s != r.ID+"/token" {
		t.Error(s)
	}
	if p := r.do("", http.MethodGet, "/openapi.json", ""); p.Status != 200 || !strings.Contains(p.Body, `"url":"/"`) {
		t.Errorf("%d %.200s", p.Status, p.Body)
	}
	wantError(t, r.do("writer", http.MethodDelete, "/openapi.json", ""), 405, "method_not_allowed", "")
}

// withoutPathParameters takes what is not an operation out of the paths.
func withoutPathParameters(t *testing.T, raw string) string {
	t.Helper()
	var d map[string]any
	if err := json.Unmarshal([]byte(raw), &d); err != nil {
		t.Fatal(err, raw)
	}
	paths, _ := d["paths"].(map[string]any)
	for _, item := range paths {
		if item, ok := item.(map[string]any); ok {
			delete(item, "parameters")
		}
	}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDescriptionHasAPage(t *testing.T) {
	r := describing(t)
	for lang, want := range map[string]string{"en": "Needs a token with the scopes", "zh-CN": "需要具有以下权限的令牌"} {
		p := r.do("", http.MethodGet, "/v1/openapi", "", "Accept-Language", lang)
		if p.Status != 200 || !strings.Contains(p.Body, want) || !strings.Contains(p.Body, `href="/v1/openapi.json"`) || strings.Contains(p.Body, "<script") {
			t.Errorf("%s: %d %.500s", lang, p.Status, p.Body)
		}
		if csp := p.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; style-src 'sha256-") {
			t.Error(csp)
		}
	}
}

// Behind encode a tag has another name, and fits all the same.
func TestOpenAPISupportsConditionalGet(t *testing.T) {
	g := harness.Prepare(t, "$LEGACY", legacy(t))
	g.Start(t, strings.Replace(worded("to $LEGACY\nresource articles\nopenapi\n"), "api_errors", "encode gzip\n\tapi_errors", 1))
	r := &rig{g, t, make(map[string]string)}
	for _, path := range []string{"/openapi.json", "/openapi"} {
		for _, coding := range []string{"identity", "gzip"} {
			whole := r.do("reader", http.MethodGet, path, "", "Accept-Encoding", coding)
			tag := whole.Header.Get("Etag")
			if whole.Status != 200 || whole.Header.Get("Cache-Control") != "private, no-cache" || (whole.Header.Get("Content-Encoding") == "gzip") != (coding == "gzip") {
				t.Errorf("%s %s: %d %v", path, coding, whole.Status, whole.Header)
			}
			if p := r.do("reader", http.MethodGet, path, "", "Accept-Encoding", coding, "If-None-Match", tag); p.Status != 304 || p.Body != "" || p.Header.Get("Etag") != strings.Replace(tag, "-gzip", "", 1) {
				t.Errorf("%s %s: %d %v, the tag was %s", path, coding, p.Status, p.Header, tag)
			}
			wantError(t, r.do("", http.MethodGet, path, "", "If-None-Match", tag), 401, "unauthorized", "")
		}
	}
	before := r.do("reader", http.MethodGet, "/openapi.json", "")
	g.Load(t, worded("to $LEGACY\nresource articles\nresource notes\nopenapi\n"))
	if p := r.do("reader", http.MethodGet, "/openapi.json", "", "If-None-Match", before.Header.Get("Etag")); p.Status != 200 || !strings.Contains(p.Body, "/notes") {
		t.Errorf("after a reload: %d %.200s", p.Status, p.Body)
	}
}

// Two linters read it: each knows the specification, and rules that others go by.
func TestLintersAcceptTheDescription(t *testing.T) {
	r := describing(t)
	for i, path := range []string{"/openapi.json", "/v1/openapi.json"} {
		file := r.WriteFile(t, fmt.Sprintf("openapi%d.json", i), r.do("", http.MethodGet, path, "").Body)
		if out := harness.Node(t, 5*time.Minute, "openapi.js "+file, nil, nil); !strings.Contains(out, "valid for redocly and spectral") {
			t.Error(out)
		}
	}
}

// It is a path like any other: the guard decides who may read it.
func TestDescriptionIsBehindTheGuard(t *testing.T) {
	g := harness.Prepare(t, "$LEGACY", legacy(t))
	g.Start(t, worded("to $LEGACY\nresource articles\nopenapi\n"))
	r := &rig{g, t, make(map[string]string)}
	for _, path := range []string{"/openapi.json", "/openapi"} {
		wantError(t, r.do("", http.MethodGet, path, ""), 401, "unauthorized", "")
		if p := r.do("reader", http.MethodGet, path, ""); p.Status != 200 {
			t.Errorf("%s: %d", path, p.Status)
		}
	}
	g.Load(t, worded("to $LEGACY\nresource articles\n"))
	wantError(t, r.do("reader", http.MethodGet, "/openapi.json", ""), 404, "not_found", "")
}
