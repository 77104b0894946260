package cli

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// limited is the site with a limit behind the guard.
var limited = strings.Replace(site, "\treverse_proxy $UPSTREAM", "\tapi_limit {\n\t\tclient 3 1h\n\t}\n\treverse_proxy $UPSTREAM", 1)

// watching is a `caddy gatehouse watch` that has begun.
type watching struct {
	t           *testing.T
	cmd         *exec.Cmd
	out, errors harness.Output
	done        chan struct{}
}

func startWatch(t *testing.T, g *harness.Gateway, words ...string) *watching {
	t.Helper()
	w := &watching{t: t, done: make(chan struct{})}
	w.cmd = exec.Command(harness.Program(t), append([]string{"gatehouse"}, at(g, append([]string{"watch"}, words...))...)...)
	w.cmd.Stdout, w.cmd.Stderr = &w.out, &w.errors
	w.cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	harness.FailOn(t, w.cmd.Start())
	go func() {
		_ = w.cmd.Wait() // its exit code is looked at
		close(w.done)
	}()
	t.Cleanup(func() { _ = w.cmd.Process.Kill(); <-w.done })
	w.await(&w.errors, "Watching the gateway")
	return w
}

// await waits until something was printed.
func (w *watching) await(where *harness.Output, text string) {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(where.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("no %q in %q and %q", text, w.out.String(), w.errors.String())
		}
	}
}

// end ends it as an operator does.
func (w *watching) end() result {
	w.t.Helper()
	harness.FailOn(w.t, w.cmd.Process.Signal(syscall.SIGINT))
	return w.ended()
}

func (w *watching) ended() result {
	w.t.Helper()
	select {
	case <-w.done:
	case <-time.After(30 * time.Second):
		w.t.Fatalf("watch does not end: %q %q", w.out.String(), w.errors.String())
	}
	return result{w.cmd.ProcessState.ExitCode(), w.out.String(), w.errors.String()}
}

// row returns the fields of the line that has a text.
func row(t *testing.T, out, part string) string {
	t.Helper()
	for line := range strings.Lines(out) {
		if strings.Contains(line, part) {
			return strings.Join(strings.Fields(line), " ")
		}
	}
	t.Fatalf("no line with %q in %q", part, out)
	return ""
}

func TestWatchShowsCallersOutcomesAndLimits(t *testing.T) {
	g := startSite(t, limited)
	addUser(t, g)
	w := startWatch(t, g)
	_, machineToken := clientToken(t, g, machine)
	userToken, _ := granted(t, g, harness.NewBrowser(t, g.ID), "alice")
	for _, path := range []string{"/read/1?secret=canary", "/read/2", "/read/3", "/read/4"} {
		g.Call(t, "GET", path, machineToken)
	}
	g.Call(t, "GET", "/read/user", userToken)
	g.Call(t, "POST", "/read/scope", machineToken)
	g.Call(t, "GET", "/read/nobody", "")
	g.Call(t, "GET", "/read/forged", "canary-token")
	g.Call(t, "GET", "/nowhere", machineToken)
	g.Call(t, "GET", "/public/last", "")
	w.await(&w.out, "/public/last")
	r := w.end()
	for part, want := range map[string]string{
		"/read/1":      "machine GET /read/1 200 allowed client 2/3",
		"/read/3":      "machine GET /read/3 200 allowed client 0/3",
		"/read/4":      "machine GET /read/4 429 refused rate_limited client 0/3",
		"/read/user":   "web u-",
		"/read/scope":  "machine POST /read/scope 403 refused insufficient_scope - ",
		"/read/nobody": "127.0.0.1 GET /read/nobody 401 refused no_credentials - ",
		"/read/forged": "127.0.0.1 GET /read/forged 401 refused invalid_token:malformed - ",
		"/nowhere":     "GET /nowhere 403 refused no_rule - ",
		"/public/last": "127.0.0.1 GET /public/last 200 allowed - ",
		"/token":       "POST /token 200 allowed - ",
	} {
		if got := row(t, r.out, part); !strings.Contains(got, want) || !strings.HasSuffix(got, " ms") {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if strings.Contains(r.out+r.err, "canary") || strings.Contains(r.out, machineToken[:20]) {
		t.Errorf("a secret is shown: %s%s", r.out, r.err)
	}
	_, summary, _ := strings.Cut(r.out, " requests in ")
	for _, part := range []string{"5 refused, 0 failed", "p50 ", "1  rate_limited\n", "Callers refused most:", "machine\n", "Routes refused most:", "3  GET,HEAD /read /read/*\n"} {
		if !strings.Contains(summary, part) {
			t.Errorf("no %q in %q", part, summary)
		}
	}
	if r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestWatchFilters(t *testing.T) {
	g := start(t)
	_, token := clientToken(t, g, machine)
	for _, c := range []struct {
		words string
		want  string // the paths of the requests below
	}{
		{"", "/read/a /read/b /public/c"},
		{"--client machine", "/read/a"},
		{"--client=other --refused", ""},
		{"--user u-1", ""},
		{"--path /read", "/read/a /read/b"},
		{"--status 4xx", "/read/b"},
		{"--status 200,503", "/read/a /public/c"},
		{"--refused", "/read/b"},
		{"--refused --status 200", ""},
	} {
		t.Run(c.words, func(t *testing.T) {
			w := startWatch(t, g, append(strings.Fields(c.words), "--json")...)
			g.Call(t, "GET", "/read/a", token)
			g.Call(t, "GET", "/read/b", "")
			g.Call(t, "GET", "/public/c", "")
			for p := range strings.FieldsSeq(c.want) {
				w.await(&w.out, p)
			}
			r := w.end()
			var paths []string
			var summary struct {
				Summary *struct {
					Requests int
					Outcomes map[string]int
				}
			}
			for line := range strings.Lines(r.out) {
				var d struct{ Path string }
				if json.Unmarshal([]byte(line), &d) != nil || json.Unmarshal([]byte(line), &summary) != nil {
					t.Fatalf("%q is no JSON", line)
				}
				if d.Path != "" {
					paths = append(paths, d.Path)
				}
			}
			if got := strings.Join(paths, " "); got != c.want || summary.Summary == nil || summary.Summary.Requests != len(paths) {
				t.Errorf("%q, %+v, want %q", got, summary.Summary, c.want)
			}
		})
	}
}

func TestWatchRefusesInvalidFilters(t *testing.T) {
	g := start(t)
	for words, want := range map[string]string{
		"--status 4yx": "'4yx' is no status", "--status 600": "'600' is no status", "--for 0s": "--for", "--for 3": "3", "extra": "unexpected word", "--clint x": "--client",
	} {
		if r := command(t, g, "", append([]string{"watch"}, strings.Fields(words)...)...); r.code != 1 || !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: %+v", words, r)
		}
	}
	for _, query := range []string{"status=abc", "refused=perhaps", "scope=x", "client=a&client=b"} {
		if p := call(t, g, "GET", "watch?"+query, ""); p.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, p.Status, p.Body)
		}
	}
}

func TestWatchEndsAfterItsDuration(t *testing.T) {
	g := start(t)
	w := startWatch(t, g, "--for", "200ms")
	if r := w.ended(); r.code != 0 || !strings.Contains(r.out, "0 requests in ") {
		t.Errorf("%+v", r)
	}
}

func TestWatchSurvivesAReload(t *testing.T) {
	g := start(t)
	w := startWatch(t, g, "--path", "/public")
	for i, reload := range []func(){
		func() { g.Load(t, strings.Replace(site, "client machine {", "client other {", 1)) },
		func() {
			if g.TryLoad(site+"\nhttp://localhost:1 {\n\tbind 192.0.2.1\n\trespond x\n}\n") == nil {
				t.Error("loaded")
			}
		},
	} {
		reload()
		for deadline := time.Now().Add(30 * time.Second); strings.Count(w.errors.String(), "reconnected") <= i; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("reload %d: %q", i, w.errors.String())
			}
		}
		path := "/public/after" + string(rune('a'+i))
		g.Call(t, "GET", path, "")
		w.await(&w.out, path)
	}
	g.Load(t, "{\n\tadmin $ADMIN\n}\nhttp://$ID {\n\trespond ok\n}\nhttp://$API {\n\trespond ok\n}\n")
	if r := w.ended(); r.code != 5 || !strings.Contains(r.err, "has no global option") || !strings.Contains(r.out, "2 requests in ") {
		t.Errorf("%+v", r)
	}
}

func TestWatchReportsTheGatewaysEnd(t *testing.T) {
	for name, end := range map[string]func(*harness.Process){"as asked": (*harness.Process).Stop, "at once": func(p *harness.Process) { p.Kill() }} {
		t.Run(name, func(t *testing.T) {
			up := harness.NewUpstream(t)
			g := harness.Prepare(t, "$UPSTREAM", up.Addr, "$GLOBAL", "", "$GUARD", "")
			p := g.Run(t, site)
			w := startWatch(t, g, "--path", "/public")
			g.Call(t, "GET", "/public/1", "")
			w.await(&w.out, "/public/1")
			end(p)
			if r := w.ended(); r.code != 5 || !strings.Contains(r.out, "1 requests in ") || r.err == "" {
				t.Errorf("%+v", r)
			}
		})
	}
}

// follow reads the stream itself. The first line is there.
func follow(t *testing.T, g *harness.Gateway) (res *http.Response, lines *bufio.Scanner) {
	t.Helper()
	res, err := http.Get(g.Admin + "/gatehouse/watch")
	harness.FailOn(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	lines = bufio.NewScanner(res.Body)
	if res.StatusCode == http.StatusOK && (!lines.Scan() || !strings.Contains(lines.Text(), `"started"`)) {
		t.Fatalf("the stream begins with %q", lines.Text())
	}
	return res, lines
}

func TestWatchersAreLimited(t *testing.T) {
	g := start(t)
	var last *http.Response
	for range 4 {
		if last, _ = follow(t, g); last.StatusCode != http.StatusOK {
			t.Fatal(last.Status)
		}
	}
	if r := command(t, g, "", "watch"); r.code != 1 || !strings.Contains(r.err, "4 others watch this gateway already") || r.out != "" {
		t.Errorf("%+v", r)
	}
	_ = last.Body.Close()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if next, _ := follow(t, g); next.StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the place of a watcher that has gone is not free")
		}
	}
}

func TestWatchNeutralizesTerminalEscapes(t *testing.T) {
	g := start(t)
	text, lines := startWatch(t, g), startWatch(t, g, "--json")
	for _, path := range []string{"/public/%1b%5b31m", "/public/%c2%9b31m", "/public/%e2%80%aeevil", "/public/%0d%0ax", "/public/last"} {
		harness.Get(t, g.API+path)
	}
	for _, w := range []*watching{text, lines} {
		w.await(&w.out, "/public/last")
		r := w.end()
		if strings.ContainsAny(r.out, "\x1b\r\u009b\u202e\x00") {
			t.Errorf("%q", r.out)
		}
		if n := strings.Count(r.out, "/public"); n < 3 {
			t.Errorf("%d requests in %q", n, r.out)
		}
	}
}
