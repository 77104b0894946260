package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// What is secret is in a body once, and nowhere else: not in an argument, which every
// process can read, nor in an address, which Caddy logs, nor in the audit trail.
func TestSecretsAreInNoArgumentURLOrLog(t *testing.T) {
	up := harness.NewUpstream(t)
	g := harness.Prepare(t, "$UPSTREAM", up.Addr, "$GLOBAL", "", "$GUARD", "")
	p := g.Run(t, site)
	const chosen = "a password with a canary in it"
	addUserWith := func(in string, words ...string) object { return asJSON[object](t, g, in, words...) }
	addUserWith(chosen+"\n", "user", "add", "alice")
	made, _ := addUserWith("", "user", "add", "bob", "--generate")["password"].(string)
	other, _ := addUserWith("", "user", "passwd", "bob", "--generate")["password"].(string)
	secret, _ := addUserWith("", "client", "create", "c", "--scope", "read")["secret"].(string)
	rotated, _ := addUserWith("", "client", "rotate-secret", "c")["secret"].(string)
	done(t, g, "", "user", "lock", "alice")
	done(t, g, "", "user", "delete", "bob")
	done(t, g, "", "client", "delete", "c")
	done(t, g, "", "doctor")

	// While a command waits for its password, its arguments are there to be read.
	cmd := exec.Command(harness.Program(t), append([]string{"gatehouse"}, at(g, []string{"user", "passwd", "alice"})...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte(chosen)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	arguments, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "cmdline"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(arguments), "canary") {
		t.Errorf("%q", arguments)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the command: %v", err)
	}
	p.Stop()
	log := p.Output()
	for name, value := range map[string]string{"the chosen password": chosen, "the made one": made, "the second": other, "the secret": secret, "the rotated one": rotated} {
		if len(value) < 10 {
			t.Fatalf("%s: %q", name, value)
		}
		if strings.Contains(log, value) {
			t.Errorf("%s is in the log", name)
		}
	}
	for _, event := range []string{`"user_changed"`, `"reason":"created"`, `"reason":"password"`, `"reason":"locked"`, `"reason":"deleted"`, `"client_changed"`, `"reason":"secret_rotated"`} {
		if !strings.Contains(log, event) {
			t.Errorf("the audit trail has no %s", event)
		}
	}
}

func TestErrorsAreJSONWithTheJSONFlag(t *testing.T) {
	g := start(t)
	for _, words := range [][]string{{"user", "show", "none"}, {"client", "create", "x", "--scope", "nope"}, {"user", "list", "x"}, {"explain", "GET", "nowhere"}} {
		r := command(t, g, "", append(words, "--format", "json")...)
		if r.code == 0 || r.out != "" || !strings.Contains(r.err, `"message": "`) || !strings.HasPrefix(r.err, "{") {
			t.Errorf("%v: %+v", words, r)
		}
	}
}

// A name can hold what a terminal obeys; a table shows it as a character like others, and JSON escapes it.
func TestTerminalControlCharactersAreEscaped(t *testing.T) {
	g := start(t)
	if p := call(t, g, "POST", "clients", `{"id":"evil","name":"a\u001b]0;x\u0007\u202eb\nc","scopes":["read"]}`); p.Status != 201 {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	for _, words := range [][]string{{"client", "list"}, {"client", "show", "evil"}} {
		if out := done(t, g, "", words...); strings.ContainsAny(out, "\x1b\x07\u202e") || !strings.Contains(out, "a\ufffd]0;x\ufffd\ufffdb\ufffdc") {
			t.Errorf("%v: %q", words, out)
		}
	}
	if p := call(t, g, "POST", "clients", `{"id":"worse","name":"\u009b31m\u202e\u007f<b>","scopes":["read"]}`); p.Status != 201 {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	for _, words := range [][]string{{"client", "list"}, {"client", "show", "worse"}} {
		out := done(t, g, "", append(words, "--format", "json")...)
		if strings.ContainsAny(out, "\u009b\u202e\x7f") || !strings.Contains(out, `"\u009b31m\u202e\u007f<b>"`) || !json.Valid([]byte(out)) {
			t.Errorf("%v: %q", words, out)
		}
	}
}
