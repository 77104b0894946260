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
