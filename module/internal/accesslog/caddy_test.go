package accesslog

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/logging"
)

func init() { caddy.RegisterModule(new(ours)) }

// ours writes the lines of requests in place of Caddy, and sleeps before it answers /slow.
type ours struct {
	Off bool `json:"off,omitempty"`
	log *Log
}

func (*ours) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.accesslog_test", New: func() caddy.Module { return new(ours) }}
}

func (o *ours) Provision(ctx caddy.Context) error {
	o.log = New(ctx)
	return nil
}

func (o *ours) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if !o.Off {
		entry := o.log.Start(w, r)
		w = entry.Writer
		defer entry.End(nil)
	}
	if r.URL.Path == "/slow" {
		time.Sleep(slowBy)
	}
	return next.ServeHTTP(w, r)
}

const (
	writeTimeout = 300 * time.Millisecond // which the other requests never take, also on a busy machine
	slowBy       = 2 * writeTimeout
)

// TestLinesAreThoseOfCaddy holds the file caddy.go against Caddy: the same requests are logged
// once by Caddy and once by this package, to the same loggers, with the same level, message and
// fields.
func TestLinesAreThoseOfCaddy(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	logs := map[string]string{
		"all":    `{}`,
		"mapped": `{"default_logger_name":"d","logger_names":{"a.example":["x","y"],"*.wild.example":["w"],"Upper.example":["u"],"none.example":[]},"skip_hosts":["*.skip.example"]}`,
		"only":   `{"logger_names":{"a.example":["x"]},"skip_unmapped_hosts":true}`,
	}
	requests := []struct{ host, path, body string }{
		{"a.example", "/", ""}, {"A.example:8443", "/", "four"}, {"b.wild.example", "/", ""}, {"upper.example", "/", ""}, {"none.example", "/", ""},
		{"b.skip.example", "/", ""}, {"other.example", "/", ""}, {"a.example", "/skipped", ""}, {"a.example", "/named", ""}, {"other.example", "/named", ""},
		{"a.example", "/leveled", ""}, {"a.example", "/leveledoddly", ""}, {"a.example", "/fails", ""}, {"a.example", "/nobody", ""}, {"a.example", "/slow", ""},
	}
	for name, config := range logs {
		t.Run(name, func(t *testing.T) {
			serve := func(off bool) []string {
				dir := t.TempDir()
				lines, socket := filepath.Join(dir, "log"), filepath.Join(dir, "s")
				load(t, config, lines, socket, off)
				for _, r := range requests {
					ask(t, socket, r.host, r.path, r.body)
				}
				if err := caddy.Stop(); err != nil { // waits for the handlers to end
					t.Fatal(err)
				}
				return readLines(t, lines)
			}
			caddys, own := serve(true), serve(false)
			if len(caddys) == 0 || !slices.Equal(caddys, own) {
				t.Errorf("Caddy writes\n%s\nwe write\n%s", strings.Join(caddys, "\n"), strings.Join(own, "\n"))
			}
		})
	}
}

func load(t *testing.T, logs, lines, socket string, off bool) {
	t.Helper()
	vars := func(path, v string) string {
		return fmt.Sprintf(`{"match":[{"path":[%q]}],"handle":[{"handler":"vars",%s}]}`, path, v)
	}
	config := fmt.Sprintf(`{
		"admin": {"disabled": true, "config": {"persist": false}},
		"logging": {"logs": {"default": {"level": "DEBUG", "encoder": {"format": "json"}, "writer": {"output": "file", "filename": %q}}}},
		"apps": {"http": {"grace_period": "5s", "servers": {"s": {
			"listen": [%q], "automatic_https": {"disable": true}, "write_timeout": %d, "logs": %s,
			"routes": [%s, %s, %s, %s,
				{"handle": [{"handler": "accesslog_test", "off": %t}]},
				{"match": [{"path": ["/fails"]}], "handle": [{"handler": "static_response", "status_code": 500}]},
				{"match": [{"not": [{"path": ["/nobody"]}]}], "handle": [{"handler": "static_response", "body": "answer"}]}]
		}}}}}`, lines, "unix/"+socket, writeTimeout, logs,
		vars("/skipped", `"log_skip":true`), vars("/named", `"access_logger_names":["n",""]`), vars("/leveled", `"log_level":"WARN"`), vars("/leveledoddly", `"log_level":"loud"`), off)
	if err := caddy.Load([]byte(config), true); err != nil {
		t.Fatal(err)
	}
}

func ask(t *testing.T, socket, host, path, body string) {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", path, host, len(body), body)
	_, _ = io.Copy(io.Discard, conn) // the slow one is cut off
}

// readLines returns what must be the same of each access log line.
func readLines(t *testing.T, file string) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []string
	for s := bufio.NewScanner(f); s.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, s.Text())
		}
		if name, _ := line["logger"].(string); !strings.HasPrefix(name, "http.log.access") {
			continue
		}
		delete(line, "uuid") // added for the audit trail
		kept := fmt.Sprint(line["logger"], " ", line["level"], " ", line["msg"], " ", line["status"], " ", line["size"], " ", line["bytes_read"], " ", line["write_error"] != nil)
		for _, of := range []map[string]any{line, asMap(line["request"])} {
			kept += " " + strings.Join(slices.Sorted(maps.Keys(of)), ",")
		}
		all = append(all, kept)
	}
	slices.Sort(all) // of requests one after the other, lines may still be written late
	return all
}

func asMap(v any) map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		return map[string]any{fmt.Sprint(reflect.TypeOf(v)): nil}
	}
	return m
}
