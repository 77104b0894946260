package soak

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
)

// commands make and change secrets.
func (f *canaryFlows) commands() []string {
	f.codeFrom(f.browser(), f.authorize()) // something to revoke
	another := f.Plant(f.t, "another password", "pass-"+gatewaytest.Token())
	var said []string
	for _, c := range []struct {
		in   string
		args []string
	}{
		{another + "\n", []string{"user", "passwd", "alice"}},
		{another + "\n", []string{"user", "add", "alice"}}, // taken
		{"", []string{"user", "list"}},
		{"", []string{"user", "show", "alice"}},
		{"", []string{"keys", "rotate"}},
		{"", []string{"keys", "list"}},
		{"", []string{"client", "list"}},
		{"", []string{"client", "show", "web"}},
		{"", []string{"grant", "list", "alice"}},
		{"", []string{"doctor"}},
		{another + "\n", []string{"user", "add", "bob"}},
		{"", []string{"user", "lock", "bob"}},
		{"", []string{"user", "unlock", "bob"}},
		{"", []string{"grant", "revoke", "alice", "--client", "web"}},
		{"", []string{"keys", "revoke", f.kid()}},
	} {
		out, _ := f.command(c.in, c.args...)
		said = append(said, out)
	}
	out, err := f.command("", "client", "create", "made", "--redirect-uri", "https://made.example/cb", "--scope", "read", "--format", "json")
	var made struct {
		Secret string `json:"secret"`
	}
	if json.Unmarshal([]byte(out), &made) != nil || made.Secret == "" || err != nil {
		f.t.Fatalf("no client was created: %v: %s", err, out)
	}
	f.Plant(f.t, "a client's secret that was made", made.Secret)
	return said
}

// reload loads the configuration anew, then ones that cannot work.
func (f *canaryFlows) reload() {
	for _, c := range []struct {
		status        int
		before, after string
	}{
		{200, "$MORE", "name Canary"},
		{400, "users store", "users file $DIR/missing.json\n\t\tstore bolt"},
		{400, "{env.CANARY_CLIENT}", "{env.CANARY_MISSING}"},
		{400, "$DIR/keys.json", "{env.CANARY_CLIENT}"},
		{400, "issuer http://$ID", "issuer https://{env.CANARY_CLIENT}/x/../y"},
		{400, "$MORE", "client short {\n\t\t\tsecret short-literal\n\t\t}"},
	} {
		text := f.Text(strings.ReplaceAll(canaryfile, c.before, c.after))
		f.want(c.status, "POST", f.Admin+"/load", text, "Content-Type", "text/caddyfile")
		time.Sleep(100 * time.Millisecond) // the old admin listener resets whoever comes before it is closed
	}
	f.want(200, "POST", f.ID+"/token", pairs("grant_type", "client_credentials"), "Authorization", f.basic)
	f.want(http.StatusOK, "GET", f.ID+"/.well-known/jwks.json", "")
}

// kid is the id of a signing key.
func (f *canaryFlows) kid() string {
	f.t.Helper()
	var set struct {
		Keys []struct {
			Kid string `json:"kid"`
		} `json:"keys"`
	}
	_, body := harness.Get(f.t, f.ID+"/.well-known/jwks.json")
	if json.Unmarshal([]byte(body), &set) != nil || len(set.Keys) == 0 {
		f.t.Fatalf("no keys: %s", body)
	}
	return set.Keys[0].Kid
}

// lockout guesses until bob is locked.
func (f *canaryFlows) lockout() {
	b := f.browser()
	for range 12 {
		b.Submit(b.Get(f.authorize()), url.Values{"username": {"bob"}, "password": {f.Plant(f.t, "a wrong password", "wrong-"+gatewaytest.ID())}})
	}
}

// trail checks the audit trail of the run: every event there is has happened.
func (f *canaryFlows) trail(log string) {
	t := f.t
	seen := make(map[string]bool)
	for line := range strings.Lines(log) {
		var l map[string]any
		if !strings.Contains(line, `"logger":"gatehouse.audit"`) {
			continue
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		name, _ := l["event"].(string)
		seen[name] = true
		if l["time"] == nil || l["node"] == nil || l["msg"] != name {
			t.Errorf("without time or node: %s", line)
		}
		if !byCommand[name] && (l["ip"] == nil || l["request_id"] == nil) {
			t.Errorf("without address or request: %s", line)
		}
		if !byNobody[name] && l["client"] == nil && l["subject"] == nil && l["user"] == nil {
			t.Errorf("without client and subject: %s", line)
		}
	}
	for _, name := range gatewaytest.AuditNames() {
		if !seen[name] {
			t.Errorf("%s was never recorded", name)
		}
	}
}

// Events of commands, which reach the gateway by its admin endpoint, of jobs, which end
// without a request, or of nobody at all.
var (
	byCommand = map[string]bool{
		"user_changed": true, "client_changed": true, "grant_revoked": true, "key_rotated": true, "key_revoked": true, "config_changed": true,
		"sign_out_all": true, "job_ended": true,
	}
	byNobody = map[string]bool{"key_rotated": true, "key_revoked": true, "config_changed": true, "sign_in_failed": true}
)
