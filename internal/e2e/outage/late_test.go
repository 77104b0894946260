package outage

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func init() {
	caddy.RegisterModule(waiting{})
	httpcaddyfile.RegisterHandlerDirective("test_waiting", func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) { return waiting{}, nil })
	httpcaddyfile.RegisterDirectiveOrder("test_waiting", httpcaddyfile.After, "encode")
}

// waiting keeps requests with a field X-Wait in front of the gateway's handlers.
type waiting struct{}

var waits struct {
	arrived chan struct{}
	release chan struct{}
}

func (waiting) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.test_waiting", New: func() caddy.Module { return waiting{} }}
}

func (waiting) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if r.Header.Get("X-Wait") != "" {
		waits.arrived <- struct{}{}
		<-waits.release
	}
	return next.ServeHTTP(w, r)
}

// A handler in front may keep a request until its configuration has been cleaned up.
func TestRequestAfterCleanupIsServed(t *testing.T) {
	text := strings.Replace(with("$SITE", "test_waiting"), "\toauth_server\n", "\ttest_waiting\n\toauth_server\n", 1)
	for name, next := range map[string]string{
		"under the same limiter and store": text,
		"under another limiter":            strings.Replace(text, "limiter fake", "limiter fake other", 1),
	} {
		t.Run(name, func(t *testing.T) {
			g, _, _, l := start(t, text)
			bearer := token(t, g)
			waits.arrived, waits.release = make(chan struct{}), make(chan struct{})
			var all sync.WaitGroup
			for address, want := range map[string]int{
				g.API + "/read": 200, g.API + "/healthz": 200, g.ID + "/ready": 200, g.ID + "/.well-known/jwks.json": 200, g.API + "/none": 403,
			} {
				all.Go(func() {
					r, err := http.NewRequest(http.MethodGet, address, nil)
					if err != nil {
						t.Error(err)
						return
					}
					r.Header.Set("Authorization", "Bearer "+bearer)
					r.Header.Set("X-Wait", "yes")
					res, err := http.DefaultClient.Do(r)
					if err != nil {
						t.Errorf("%s: %v", address, err)
						return
					}
					_ = res.Body.Close()
					if res.StatusCode != want {
						t.Errorf("%s: %d, want %d", address, res.StatusCode, want)
					}
				})
			}
			for range 5 {
				<-waits.arrived
			}
			g.Load(t, next)
			close(waits.release)
			all.Wait()
			if l.opened("")+l.opened("other") != 1 {
				t.Errorf("%d and %d limiters are open", l.opened(""), l.opened("other"))
			}
		})
	}
}
