package accesslog

import (
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

func TestAccessLogMatchesCaddysRouting(t *testing.T) {
	names := func(s ...string) caddyhttp.StringArray { return s }
	for name, c := range map[string]struct {
		host string
		logs *caddyhttp.ServerLogConfig
		vars map[string]any
		want []string
	}{
		"no log":                  {"a.example", nil, nil, nil},
		"one log for all":         {"a.example", &caddyhttp.ServerLogConfig{}, nil, []string{"log.access"}},
		"a default name":          {"a.example", &caddyhttp.ServerLogConfig{DefaultLoggerName: "d"}, nil, []string{"log.access.d"}},
		"this host":               {"A.example:8443", &caddyhttp.ServerLogConfig{LoggerNames: map[string]caddyhttp.StringArray{"a.example": names("x", "y")}}, nil, []string{"log.access.x", "log.access.y"}},
		"a wildcard":              {"a.example", &caddyhttp.ServerLogConfig{LoggerNames: map[string]caddyhttp.StringArray{"*.example": names("x")}, SkipUnmappedHosts: true}, nil, []string{"log.access.x"}},
		"another host":            {"a.example", &caddyhttp.ServerLogConfig{LoggerNames: map[string]caddyhttp.StringArray{"b.example": names("x")}}, nil, []string{"log.access"}},
		"another host, only":      {"a.example", &caddyhttp.ServerLogConfig{LoggerNames: map[string]caddyhttp.StringArray{"b.example": names("x")}, SkipUnmappedHosts: true}, nil, nil},
		"a host that is skipped":  {"a.example", &caddyhttp.ServerLogConfig{SkipHosts: []string{"*.example"}}, nil, nil},
		"a host without loggers":  {"a.example", &caddyhttp.ServerLogConfig{LoggerNames: map[string]caddyhttp.StringArray{"a.example": {}}}, nil, nil},
		"log_skip":                {"a.example", &caddyhttp.ServerLogConfig{}, map[string]any{caddyhttp.LogSkipVar: true}, nil},
		"log_name":                {"a.example", &caddyhttp.ServerLogConfig{}, map[string]any{caddyhttp.AccessLoggerNameVarKey: []any{"x", ""}}, []string{"log.access.x", "log.access"}},
		"log_name, another host":  {"a.example", &caddyhttp.ServerLogConfig{SkipUnmappedHosts: true}, map[string]any{caddyhttp.AccessLoggerNameVarKey: []any{"x"}}, nil},
		"log_name of odd things":  {"a.example", &caddyhttp.ServerLogConfig{}, map[string]any{caddyhttp.AccessLoggerNameVarKey: []any{1}}, nil},
		"log_level, which stays":  {"a.example", &caddyhttp.ServerLogConfig{}, map[string]any{caddyhttp.LogLevelVar: "WARN"}, []string{"log.access"}},
		"log_level, which is odd": {"a.example", &caddyhttp.ServerLogConfig{}, map[string]any{caddyhttp.LogLevelVar: "loud"}, []string{"log.access"}},
	} {
		core, lines := observer.New(zapcore.DebugLevel)
		l := &Log{zap.New(core).Named("log.access")}
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/authorize?state=S", nil)
		r.Host = c.host
		r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, &caddyhttp.Server{Logs: c.logs})
		for k, v := range c.vars {
			caddyhttp.SetVar(r.Context(), k, v)
		}
		e := l.Start(w, r)
		_, _ = e.Writer.Write([]byte("answer"))
		e.End(nil)
		var got []string
		for _, line := range lines.All() {
			got = append(got, line.LoggerName)
			if c.vars[caddyhttp.LogLevelVar] == "WARN" && line.Level != zapcore.WarnLevel {
				t.Errorf("%s: at level %v", name, line.Level)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if caddyhttp.GetVar(r.Context(), caddyhttp.LogSkipVar) != true {
			t.Errorf("%s: Caddy writes its own line too", name)
		}
	}
}
