package harness

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// prismReady is how long Prism may take to start. On an idle machine it takes about a second.
const prismReady = 2 * time.Minute

// Prism is a validating proxy (@stoplight/prism-cli) in front of an API. It checks each request and each response
// against a description of the API, and returns an error for those that do not match.
type Prism struct {
	// URL is the address of the proxy, without a trailing slash.
	URL string

	reached atomic.Int64 // requests that it passed on
}

// StartPrism starts Prism with an OpenAPI document in front of the API at upstream, waits until it listens, and stops
// it when the test ends. The test's package must be two folders below the module's root.
func StartPrism(t testing.TB, document, upstream string) *Prism {
	t.Helper()
	dir := filepath.Join("..", "..", "..", ".ci", "node")
	program := filepath.Join("node_modules", "@stoplight", "prism-cli", "dist", "index.js")
	if _, err := os.Stat(filepath.Join(dir, program)); err != nil {
		t.Fatal("Prism is not installed: run ./xcaddy.sh test in the top folder, which does that first: ", err)
	}
	file := filepath.Join(t.TempDir(), "openapi.json")
	FailOn(t, os.WriteFile(file, []byte(document), 0o600))
	p := new(Prism)
	port := strconv.Itoa(FreePorts(t, 1)[0])
	p.URL = "http://127.0.0.1:" + port
	cmd := exec.Command("node", program, "proxy", file, p.countingProxy(t, upstream), "--errors", "--host", "127.0.0.1", "--port", port)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	running := StartChild(t, cmd)
	t.Cleanup(func() {
		running.Kill()
		if t.Failed() {
			t.Logf("Prism wrote:\n%s", running.Out)
		}
	})
	running.Await(t, prismReady, func() bool { return strings.Contains(running.Out.String(), "Prism is listening") })
	return p
}

// countingProxy sits between Prism and the API, and counts the requests that Prism forwards.
func (p *Prism) countingProxy(t testing.TB, upstream string) string {
	t.Helper()
	u, err := url.Parse(upstream)
	FailOn(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.reached.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Do sends a request to an address below URL. reached reports whether Prism forwarded it, as it does with requests that
// match the document. violations is what Prism found wrong in the response. Do is not safe for concurrent use.
func (p *Prism) Do(t testing.TB, c *http.Client, r *http.Request) (answer Page, reached bool, violations string) {
	t.Helper()
	before := p.reached.Load()
	answer = Do(t, c, r)
	violations = answer.Header.Get("Sl-Violations")
	if violations == "" && strings.Contains(answer.Body, "stoplight.io/prism/errors") {
		violations = answer.Body
	}
	return answer, p.reached.Load() > before, violations
}
