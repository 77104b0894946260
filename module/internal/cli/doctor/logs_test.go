package doctor

import (
	"fmt"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

// Caddy's handler rewrite logs whole addresses at level DEBUG.
func TestLogsOfRewrites(t *testing.T) {
	for _, c := range []struct {
		log, handlers, want string
	}{
		{`{"level":"DEBUG"}`, `{"handler":"rewrite"},{"handler":"gatehouse_server"}`, adminapi.GradeWarn},
		{`{"level":"debug"}`, `{"handler":"subroute","routes":[{"handle":[{"handler":"rewrite"}]}]},{"handler":"gatehouse_guard"}`, adminapi.GradeWarn},
		{`{"level":"DEBUG","include":["http"]}`, `{"handler":"rewrite"},{"handler":"gatehouse_server"}`, adminapi.GradeWarn},
		{`{"level":"DEBUG","include":["http.log.access"]}`, `{"handler":"rewrite"},{"handler":"gatehouse_server"}`, adminapi.GradeOK},
		{`{"level":"DEBUG","exclude":["http.handlers.rewrite"]}`, `{"handler":"rewrite"},{"handler":"gatehouse_server"}`, adminapi.GradeOK},
		{`{"level":"DEBUG","exclude":["http.handlers.re"]}`, `{"handler":"rewrite"},{"handler":"gatehouse_server"}`, adminapi.GradeWarn},
		{`{"level":"INFO"}`, `{"handler":"rewrite"},{"handler":"gatehouse_server"}`, adminapi.GradeOK},
		{`{"level":"DEBUG"}`, `{"handler":"gatehouse_server"}`, adminapi.GradeOK},
		{`{"level":"DEBUG"}`, `{"handler":"rewrite"}`, adminapi.GradeOK},
		{`null`, `{"handler":"rewrite"},{"handler":"gatehouse_server"}`, adminapi.GradeOK},
	} {
		text := fmt.Sprintf(`{"logging":{"logs":{"default":%s}},"apps":{"gatehouse":{},"http":{"servers":{"s":{"routes":[{"handle":[%s]}]}}}}}`, c.log, c.handlers)
		read, err := explain.ReadConfiguration([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if out := (configuration{Configuration: *read}).logs(); len(out) != 1 || out[0].Grade != c.want {
			t.Errorf("%s with %s: %v, want %s", c.log, c.handlers, out, c.want)
		}
	}
}

func TestLogsOfCredentials(t *testing.T) {
	appends := func(value string) string { return fmt.Sprintf(`{"handler":"log_append","key":"x","value":%q}`, value) }
	for _, c := range []struct {
		handlers string
		want     bool
	}{
		{appends("{http.request.header.Authorization}"), true},
		{appends("{http.request.header.proxy-authorization}"), true},
		{appends("{http.request.header.X-API-Key}"), true},
		{appends("{http.request.header.Cookie}"), true},
		{appends("{http.request.cookie.sid}"), true},
		{appends("{http.response.header.Set-Cookie}"), true},
		{appends("{http.response.header.Location}"), true},
		{appends("{http.reverse_proxy.header.Set-Cookie}"), true},
		{appends("{http.request.body}"), true},
		{appends("{http.response.body_base64}"), true},
		{appends("{http.request.uri.query.access_token}"), true},
		{appends("a {http.request.header.Authorization}"), true},
		{appends("{http.request.header.User-Agent}"), false},
		{appends("{http.request.uri.path}"), false},
		{appends("{http.auth.user.id}"), false},
		{appends("{http.response.header.Content-Type}"), false},
		{appends("Authorization"), false},
		{`{"handler":"vars","tok":"{http.request.header.Authorization}"},` + appends("tok"), true},
		{`{"handler":"vars","tok":"{http.request.header.Authorization}"},` + appends("{http.vars.tok}"), true},
		{`{"handler":"vars","tok":"{http.request.header.Accept}"},` + appends("tok"), false},
		{`{"handler":"tracing","span":"api","span_attributes":{"who":"{http.request.header.Authorization}"}}`, true},
		{`{"handler":"error","error":"no {http.request.header.Cookie}"}`, true},
		{`{"handler":"reverse_proxy","handle_response":[{"routes":[{"handle":[` + appends("{http.reverse_proxy.header.Location}") + `]}]}]}`, true},
	} {
		for _, format := range []string{`{"routes":[{"handle":[{"handler":"gatehouse_guard"},%s]}]}`, `{"routes":[{"handle":[{"handler":"gatehouse_guard"}]}],"errors":{"routes":[{"handle":[%s]}]}}`} {
			read, err := explain.ReadConfiguration([]byte(fmt.Sprintf(`{"apps":{"gatehouse":{},"http":{"servers":{"s":`+format+`}}}}`, c.handlers)))
			if err != nil {
				t.Fatal(err)
			}
			out := (configuration{Configuration: *read}).logs()
			if got := len(out) == 1 && out[0].Grade == adminapi.GradeWarn; got != c.want {
				t.Errorf("%s: %v", c.handlers, out)
			}
		}
	}
}
