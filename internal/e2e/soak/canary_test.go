package soak

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
)

// TestRunLeavesNoSecretAnywhere is E18, O03, O07 and H10: everything that the
// authorization server does is done once, well and badly, with logs at DEBUG, and then
// nothing that was secret is in any log, in the metrics, the stored configuration, the
// database, or an error page.
func TestRunLeavesNoSecretAnywhere(t *testing.T) {
	c := newCanaryRun(t)
	master := c.plantEnv("CANARY_MASTER", "the gateway's secret")
	client := c.plantEnv("CANARY_CLIENT", "a client's secret")
	initial := c.plantEnv("CANARY_INITIAL", "an initial access token")
	pass := c.Plant(t, "a password", "pass-"+gatewaytest.Token())
	key := harness.NewClientKey(t)
	c.WriteFile(t, "keys.json", key.JWKS)
	if err := os.MkdirAll(filepath.Join(c.Dir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := c.Run(t, canaryfile)

	said, err := c.command(pass+"\n", "user", "add", "alice", "--name", "Alice")
	if err != nil {
		t.Fatalf("adding the user: %v: %s", err, said)
	}
	outputs := []string{said}
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("web:"+client))
	f := &canaryFlows{canaryRun: c, pass: pass, secret: client, basic: basic}
	access, refresh := f.signIn()
	f.codes()
	f.grants(key)
	f.registration(initial)
	f.tokens(access, refresh)
	f.mistakes()
	f.guard(access)
	f.jobs()
	f.account()
	f.scanning()
	f.site()
	f.devices()
	outputs = append(outputs, f.commands()...)
	f.lockout()
	f.reload()
	outputs = append(outputs, c.Scrape(t))
	_, config := harness.Get(t, c.Admin+"/config/")
	outputs = append(outputs, config)
	literal := c.Plant(t, "a literal client secret", "literal-"+gatewaytest.Token())
	adapted, err := c.Adapt(strings.Replace(canaryfile, "$MORE", "client literal {\n\t\t\tsecret "+literal+"\n\t\t}", 1))
	if err != nil {
		t.Fatal(err)
	}
	outputs = append(outputs, string(adapted))
	p.Stop()
	outputs = append(outputs, p.Output())
	c.plantKeys(master)

	if n := len(c.Names()); n < 20 {
		t.Fatalf("only %d kinds of secrets: %v", n, c.Names())
	}
	f.search(outputs)
}

// search looks everywhere.
func (f *canaryFlows) search(outputs []string) {
	c, t := f.canaryRun, f.t
	var found []string
	for _, out := range outputs {
		found = append(found, c.Find(out)...)
	}
	var formNames []string
	for _, name := range c.Names() {
		if strings.HasPrefix(name, inForm) {
			formNames = append(formNames, name)
		}
	}
	for _, body := range c.errors {
		found = append(found, c.Find(body, formNames...)...)
	}
	// What a client called state is its own affair: it stands in the record of a request
	// that was pushed, and in that of a ticket, whose name is the record's. How a site calls
	// a user is kept for ever.
	files, looked := c.FindFiles(t, c.Dir, map[string][]string{"state.db": {
		"state", "state of a Location", aTicket, "openid of an answer", "unionid of an answer",
	}})
	found = append(found, files...)
	for _, s := range found {
		t.Error(s)
	}
	for _, name := range []string{"logs/default.json", "logs/console.log", "state.db", "caddy/autosave.json"} {
		if info, err := os.Stat(filepath.Join(c.Dir, name)); err != nil || info.Size() < 500 {
			t.Errorf("%s was not there to be looked at: %v", name, err)
		}
	}
	if looked < 5 || len(c.errors) < 15 {
		t.Errorf("only %d files and %d error answers were looked at", looked, len(c.errors))
	}
	raw, err := os.ReadFile(filepath.Join(c.Dir, "logs", "default.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"uri":"/authorize?client_id=web&`, `state=REDACTED`, `"uri":"/token"`, `"logger":"gatehouse.audit"`, `"level":"debug"`, `"logger":"admin.api"`,
		`"logger":"http.log.error`, `code=REDACTED`,
		`/connect/l/qrconnect?f=json&uuid=REDACTED`, `/connect/qrcode/REDACTED`, `/sns/userinfo?access_token=REDACTED&openid=REDACTED`, `"Referer":["REDACTED"]`,
		`"Location":["https://wx.example/cb?code=REDACTED&state=REDACTED"]`, `/device?user_code=REDACTED`, `"uri":"/read?openid=REDACTED&access_token=REDACTED`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the log does not even have %s", want)
		}
	}
	f.trail(string(raw))
}

// plantEnv makes a secret that the configuration takes from the environment.
func (c *canaryRun) plantEnv(variable, name string) string {
	value := c.Plant(c.t, name, "canary-"+gatewaytest.Token())
	c.t.Setenv(variable, value)
	return value
}

// plantKeys opens the signing keys as the gateway does.
func (c *canaryRun) plantKeys(master string) {
	raw, err := os.ReadFile(filepath.Join(c.Dir, "state.db"))
	if err != nil {
		c.t.Fatal(err)
	}
	planted := 0
	for _, m := range regexp.MustCompile(`"kid":"([\w-]+)","alg":"\w+","public":\{[^}]*\},"private":"([\w-]+)"`).FindAllSubmatch(raw, -1) {
		der, err := gatewaytest.OpenSealed(master, "signing key", string(m[2]), m[1])
		if err != nil {
			continue // a copy that the database has overwritten in part
		}
		planted++
		c.Plant(c.t, "a signing key", string(der))
		key, err := x509.ParsePKCS8PrivateKey(der)
		if err != nil {
			c.t.Fatal(err)
		}
		if key, ok := key.(*ecdsa.PrivateKey); ok {
			d, err := key.Bytes()
			if err != nil {
				c.t.Fatal(err)
			}
			c.Plant(c.t, "a signing key", string(d))
		}
	}
	if planted == 0 {
		c.t.Fatal("no signing key was found in the database")
	}
}

// asJSON is the body of a registration.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// pairs makes a form of names and values.
func pairs(values ...string) string {
	form := url.Values{}
	for i := 0; i+1 < len(values); i += 2 {
		form.Set(values[i], values[i+1])
	}
	return form.Encode()
}

const jsonBody = "application/json"
