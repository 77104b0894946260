package harness

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// failureLines is how much of a gateway's log a failed test shows.
const failureLines = 40

// logged is the end of what the gateway in this process has logged, instead of the nothing
// that its Caddyfile asks for: it is shown if the test fails.
var logged = new(Output)

func init() { caddy.RegisterModule(logWriter{}) }

// logWriter is the log writer "harness".
type logWriter struct{}

// CaddyModule implements caddy.Module.
func (logWriter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.logging.writers.harness", New: func() caddy.Module { return logWriter{} }}
}

func (logWriter) String() string                           { return "harness" }
func (logWriter) WriterKey() string                        { return "harness" }
func (logWriter) OpenWriter() (io.WriteCloser, error)      { return logWriter{}, nil }
func (logWriter) Write(line []byte) (written int, _ error) { return logged.Write(line) }
func (logWriter) Close() error                             { return nil }

// keepLog changes a configuration that logs nowhere.
func keepLog(config []byte) []byte {
	return bytes.ReplaceAll(config, []byte(`"writer":{"output":"discard"}`), []byte(`"writer":{"output":"harness"}`))
}

// showIfFailed ends the output of a failed test with the end of a log.
func (g *Gateway) showIfFailed(t testing.TB, log *Output) {
	t.Helper()
	if text := log.last(failureLines); t.Failed() && text != "" {
		t.Logf("the gateway at %s logged at the end:\n%s", g.ID, text)
	}
}

// last is the end of the output, so many lines at most.
func (o *Output) last(lines int) string {
	all := strings.SplitAfter(strings.TrimSuffix(o.String(), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// reset forgets what was written.
func (o *Output) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Reset()
}
