package restapi

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// R07: of an API's error that nearly has the common form, nothing but code, message and field reaches the client.
func TestErrorsOfOtherFormsAreRebuilt(t *testing.T) {
	const generic, declared = `"upstream": $TO, "resources": [{"path": "articles", "drop": ["secret"], "rename": {"title": "subject"}}]`,
		`"upstream": $TO, "errors": {"from": [{"kind": "json", "code": "/error/status", "message": "/error/reason", "field": "/error/at"}]}, "resources": [{"path": "articles"}]`
	u := newRecorded(t, nil)
	for _, c := range []struct {
		name, config, body string
		status             int
		want               string
	}{
		{"OData", generic, `{"error":{"code":"400","message":"bad title","target":"subject"}}`, 400, `{"error":{"code":"400","message":"bad title","field":"title"}}`},
		{"an inner error", generic, `{"error":{"code":"conflict","message":"no","innererror":{"hint":"db-7 user admin","sql":"SELECT cost FROM secret_table"}}}`, 409, `{"error":{"code":"conflict","message":"no","field":null}}`},
		{"a resource in it", generic, `{"error":{"code":"conflict","message":"it exists","existing":{"id":7,"subject":"T","secret":"S7"}}}`, 409, `{"error":{"code":"conflict","message":"it exists","field":null}}`},
		{"a resource beside it", generic, `{"error":{"code":"conflict","message":"it exists","field":null},"data":{"secret":"S7"}}`, 409, `{"error":{"code":"conflict","message":"it exists","field":null}}`},
		{"several errors", generic, `{"error":{"code":"BadArgument","message":"Several.","details":[{"code":"NullValue","target":"subject","message":"empty"}]}}`, 422, `{"error":{"code":"validation_failed","message":"Several.","field":"title"}}`},
		{"the common form", generic, `{ "error":{"code":"c", "message":"m","field":null}}`, 422, `{ "error":{"code":"c", "message":"m","field":null}}`},
		{"declared places", declared, `{"error":{"code":"c","message":"m","status":"taken","reason":"It is taken.","at":"title"}}`, 409, `{"error":{"code":"taken","message":"It is taken.","field":"title"}}`},
		{"other places than declared", declared, `{"error":{"code":"c","message":"m","trace":1}}`, 409, `{"error":{"code":"c","message":"m","field":null}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, u.Addr, c.config)
			u.Answer(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			if p := r.do("writer", http.MethodPatch, "/articles/7", `{}`); p.Status != c.status || strings.TrimSpace(p.Body) != c.want {
				t.Errorf("%d %s\nwant %s", p.Status, p.Body, c.want)
			}
		})
	}
}
