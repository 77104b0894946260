package harness

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard" // what a Caddyfile needs

	_ "github.com/gatehouse/gatehouse/module" // the gateway itself
)

// Gateway is Caddy with the gateway, on free ports.
type Gateway struct {
	// ID is the issuer, API the guarded site, Admin Caddy's admin endpoint, each without a trailing slash.
	ID, API, Admin string
	// Dir is the test's own directory, $DIR in Caddyfiles.
	Dir string

	vars   *strings.Replacer
	change func([]byte) []byte
}

// Quiet are global options with which a gateway listens on loopback only, leaves nothing behind and logs nothing. A
// failed test shows what the gateway in this process would have logged.
const Quiet = `	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		output discard
	}`

// Prepare picks free ports and creates a directory. Caddyfiles refer to them as $ID and $API (host:port), $ADMIN and
// $DIR; more are further pairs of such a word and its value.
func Prepare(t testing.TB, more ...string) *Gateway {
	t.Helper()
	ports := FreePorts(t, 3)
	dir := stateDir(t)
	addr := func(p int) string { return fmt.Sprintf("localhost:%d", p) }
	g := &Gateway{
		ID: "http://" + addr(ports[0]), API: "http://" + addr(ports[1]),
		Admin: fmt.Sprintf("http://127.0.0.1:%d", ports[2]), Dir: dir,
	}
	g.vars = strings.NewReplacer(append(more,
		"$ID", addr(ports[0]), "$API", addr(ports[1]), "$ADMIN", fmt.Sprintf("127.0.0.1:%d", ports[2]), "$DIR", dir)...)
	return g
}

// Start loads a Caddyfile into this process and stops Caddy when the test ends. Since Caddy is a singleton, only one test
// of a process at a time can do so.
func Start(t testing.TB, caddyfile string, more ...string) *Gateway {
	t.Helper()
	g := Prepare(t, more...)
	g.Start(t, caddyfile)
	return g
}

// Start loads a Caddyfile into this process, as the function Start does.
func (g *Gateway) Start(t testing.TB, caddyfile string) {
	t.Helper()
	g.StartWithoutAdmin(t, caddyfile)
	g.awaitAdmin(t)
}

// StartChanged is Start with the adapted configuration changed before it is loaded.
func (g *Gateway) StartChanged(t testing.TB, caddyfile string, change func([]byte) []byte) {
	t.Helper()
	g.change = change
	g.Start(t, caddyfile)
}

// ChangeConfigs sets a function that changes each configuration before it is loaded, from now on.
func (g *Gateway) ChangeConfigs(change func([]byte) []byte) { g.change = change }

// StartWithoutAdmin is Start for a gateway whose admin endpoint is not at the address that Prepare picked.
func (g *Gateway) StartWithoutAdmin(t testing.TB, caddyfile string) {
	t.Helper()
	setDataDir(t, g.Dir)
	logged.reset()
	t.Cleanup(func() { g.showIfFailed(t, logged) })
	FailOn(t, g.TryLoad(caddyfile))
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error("stopping:", err)
		}
		awaitHandlers()
	})
}

// awaitHandlers waits until no request is being answered, for at most 2 seconds. Caddy waits for
// them only when the process ends, and what such a request holds would be seen by the next gateway
// of this process.
func awaitHandlers() { awaitEnd("caddyhttp.(*Server).ServeHTTP(", 2*time.Second) }

// awaitInForce waits until the gateway has done what it does once a configuration is in force.
// Without a store it cannot do all of that, so this takes at most a second.
func awaitInForce() { awaitEnd("gateway.applyInForce(", time.Second) }

// awaitEnd waits until no goroutine executes a function, for at most limit.
func awaitEnd(function string, limit time.Duration) {
	stacks := make([]byte, 1<<20)
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte(function)) {
			return
		}
	}
}

// Load replaces the running configuration, as a reload does. Requests after it get their answers from the new one, since
// it closes idle connections, which may belong to the old one.
func (g *Gateway) Load(t testing.TB, caddyfile string) {
	t.Helper()
	FailOn(t, g.TryLoad(caddyfile))
	http.DefaultClient.CloseIdleConnections()
	g.awaitAdmin(t)
	// Caddy returns while the old listener is still being closed, and a connection to it at this moment is reset.
	// The tests are about what comes after.
	time.Sleep(changeover)
}

// TryLoad is Load with the error returned.
func (g *Gateway) TryLoad(caddyfile string) error {
	config, err := g.Adapt(caddyfile)
	if err != nil {
		return err
	}
	if g.change != nil {
		config = g.change(config)
	}
	if config, err = withProxy(config); err != nil {
		return err
	}
	err = caddy.Load(keepLog(config), true)
	if err == nil {
		awaitInForce()
		return nil
	}
	// Caddy has replaced the admin endpoint all the same, and if the servers had started before another app failed,
	// their listeners are being closed now, too.
	time.Sleep(changeover)
	return err
}

// Adapt converts a Caddyfile to JSON.
func (g *Gateway) Adapt(caddyfile string) ([]byte, error) {
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(g.Text(caddyfile)), map[string]any{"filename": "Caddyfile"})
	return config, err
}

// Text replaces $ID, $API and the other words in a Caddyfile by their values.
func (g *Gateway) Text(caddyfile string) string { return g.vars.Replace(caddyfile) }

// WriteFile writes a file in the test's directory and returns its path.
func (g *Gateway) WriteFile(t testing.TB, name, content string) string {
	t.Helper()
	file := filepath.Join(g.Dir, name)
	FailOn(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

// Scrape returns the metrics.
func (g *Gateway) Scrape(t testing.TB) string {
	t.Helper()
	status, body := Get(t, g.Admin+"/metrics")
	if status != http.StatusOK {
		t.Fatalf("scraping: %d %s", status, body)
	}
	return body
}

// Metric returns the value of a series, or 0 if there is none.
func (g *Gateway) Metric(t testing.TB, series string) float64 {
	t.Helper()
	for line := range strings.Lines(g.Scrape(t)) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			FailOn(t, err)
			return n
		}
	}
	return 0
}

func (g *Gateway) awaitAdmin(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		res, err := http.Get(g.Admin + "/config/")
		if err == nil {
			_ = res.Body.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the admin endpoint does not answer:", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// changeover is how long Caddy may take to close a listener that it has replaced.
const changeover = 50 * time.Millisecond

// setDataDir keeps Caddy's files out of the home directory.
func setDataDir(t testing.TB, dir string) {
	t.Helper()
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, dir)
	}
}
