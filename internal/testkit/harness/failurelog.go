package harness

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// failureLines is how many lines of a gateway's log a failed test shows.
const failureLines = 40

// logged is the end of the log of the gateway in this process, whose Caddyfile asks for no log at all. A failed test
// shows it.
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

// keepLog has a configuration that discards its log write it to logged.
func keepLog(config []byte) []byte {
	return bytes.ReplaceAll(config, []byte(`"writer":{"output":"discard"}`), []byte(`"writer":{"output":"harness"}`))
}

// showIfFailed prints the end of a log if the test failed.
func (g *Gateway) showIfFailed(t testing.TB, log *Output) {
	t.Helper()
	if text := log.last(failureLines); t.Failed() && text != "" {
		t.Logf("the gateway at %s logged at the end:\n%s", g.ID, text)
	}
}

// last returns up to n lines from the end of the output.
func (o *Output) last(lines int) string {
	all := strings.SplitAfter(strings.TrimSuffix(o.String(), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// reset discards what was written.
func (o *Output) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Reset()
}
