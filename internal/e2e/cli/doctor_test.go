package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

type finding struct{ Check, Grade, Message, Remedy string }

// examined runs doctor and returns its exit code and findings.
func examined(t *testing.T, g *harness.Gateway) (int, []finding) {
	t.Helper()
	r := command(t, g, "", "doctor", "--format", "json")
	var all []finding
	if err := json.Unmarshal([]byte(r.out), &all); err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	failed := false
	for _, f := range all {
		if f.Message == "" || (f.Remedy == "") != (f.Grade == "ok") {
			t.Errorf("%+v", f)
		}
		failed = failed || f.Grade == "fail"
	}
	if failed != (r.code == 1) {
		t.Errorf("exit %d: %+v", r.code, all)
	}
	return r.code, all
}

func has(all []finding, grade, check, part string) bool {
	for _, f := range all {
		if f.Grade == grade && f.Check == check && strings.Contains(f.Message, part) {
			return true
		}
	}
	return false
}

func TestDoctorFindsAHealthyGatewayHealthy(t *testing.T) {
	g := start(t)
	addUser(t, g)
	_, _ = clientToken(t, g, machine)
	code, all := examined(t, g)
	for range 5 { // the store is slow while other tests use the disk, which is no illness
		if has(all, "ok", "store", "") {
			break
		}
		time.Sleep(200 * time.Millisecond)
		code, all = examined(t, g)
	}
	if code != 0 {
		t.Errorf("%+v", all)
	}
	for _, check := range []string{"admin", "app", "store", "files", "limiter", "revocations", "keys", "users", "clients", "site", "guard", "logs", "issuer", "clock"} {
		if !has(all, "ok", check, "") {
			t.Errorf("no ok of %s in %+v", check, all)
		}
	}
	if !has(all, "ok", "guard", "1 guard with rules") || !has(all, "ok", "clients", "checked 2 clients") { // S11
		t.Errorf("%+v", all)
	}
	if !has(all, "warn", "issuer", "plain http") {
		t.Errorf("%+v", all)
	}
	if out := done(t, g, "", "doctor"); !strings.Contains(out, "-> for anything but trying out") {
		t.Error(out)
	}
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		change             []string // of the site
		harm               func(t *testing.T, g *harness.Gateway)
		grade, check, part string
	}{
		"files that others can read": {nil, func(t *testing.T, g *harness.Gateway) {
			if err := os.Chmod(filepath.Join(g.Dir, "state.db"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "fail", "files", "0644"},
		"a secret that others can read": {nil, func(t *testing.T, g *harness.Gateway) {
			if err := os.Chmod(filepath.Join(g.Dir, "state.db.secret"), 0o640); err != nil {
				t.Fatal(err)
			}
		}, "fail", "files", "0640"},
		"a state that was deleted": {nil, func(t *testing.T, g *harness.Gateway) {
			if err := os.Remove(filepath.Join(g.Dir, "state.db")); err != nil {
				t.Fatal(err)
			}
		}, "fail", "files", "is gone"},
		"a state that was replaced": {nil, func(t *testing.T, g *harness.Gateway) {
			path := filepath.Join(g.Dir, "state.db")
			if err := os.Rename(path, path+".aside"); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("a backup"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "fail", "state file", "no longer the file"},
		"nobody to sign in":                   {nil, nil, "warn", "users", "no users"},
		"a guard without rules":               {[]string{"public GET /public /public/*\n\t\tscope read GET,HEAD /read /read/*\n\t\tscope write POST,PUT,DELETE /read /read/*\n", ""}, nil, "warn", "guard", "no rules"},
		"a guard in the shadow":               {[]string{"$GUARD", "shadow"}, nil, "warn", "guard", "shadow"},
		"S11 an audience of its own site":     {[]string{"audience https://api.example", "audience https://api.example http://$API"}, nil, "warn", "guard", "tokens for http://localhost"},
		"S11 the same with a guard's word":    {[]string{"audience https://api.example", "audience https://api.example http://$API", "$GUARD", "audience http://$API"}, nil, "ok", "guard", "1 guard"},
		"an audience of no token":             {[]string{"$GUARD", "audience https://elsewhere.example"}, nil, "fail", "guard", "https://elsewhere.example"},
		"S09 an origin that no guard lets in": {[]string{"$GUARD", "cors https://other.example", "$GLOBAL", "client spa {\n public\n redirect_uri https://spa.example/cb\n scopes read\n}"}, nil, "warn", "cors", "no guard has https://spa.example in `cors`, the origin of the public client spa"},
		"S09 an origin that a guard lets in":  {[]string{"$GUARD", "cors https://spa.example", "$GLOBAL", "client spa {\n public\n redirect_uri https://spa.example/cb\n scopes read\n}"}, nil, "ok", "cors", "the scripts of 1 public client in"},
		"no guard":                            {[]string{"oauth_guard {", "handle /nowhere {", "public GET /public /public/*\n\t\tscope read GET,HEAD /read /read/*\n\t\tscope write POST,PUT,DELETE /read /read/*\n", ""}, nil, "warn", "guard", "no site"},
		"no server":                           {[]string{"\toauth_server\n", "\trespond x\n"}, nil, "fail", "issuer", "is not the metadata"},
		"a deprecated grant":                  {[]string{"$GLOBAL", "client old {\n secret old-secret-0123456789-0123456789-01234567\n deprecated_grant password until 2099-06-30\n scopes read\n}"}, nil, "warn", "clients", "2099-06-30"},
		"a deprecated grant that ended":       {[]string{"$GLOBAL", "client old {\n secret old-secret-0123456789-0123456789-01234567\n deprecated_grant password until 2020-06-30\n scopes read\n}"}, nil, "warn", "clients", "has ended"},
		"a stored client on its way out": {nil, func(t *testing.T, g *harness.Gateway) {
			done(t, g, "", "client", "create", "kept", "--scope", "read", "--deprecated-grant", "password=2098-06-30")
		}, "warn", "clients", "2098-06-30"},
		"a public and trusted client": {[]string{"$GLOBAL", "client p {\n public\n trusted\n redirect_uri https://p.example/cb\n scopes read\n}"}, nil, "warn", "clients", "trusted"},
		"credentials in the log":      {[]string{"admin $ADMIN", "admin $ADMIN\n\tservers {\n\t\tlog_credentials\n\t}", "\toauth_server\n", "\toauth_server\n\tlog\n"}, nil, "fail", "logs", "Authorization"},
		"the address in the log":      {[]string{"\toauth_server\n", "\tlog\n\tlog_append u {http.request.uri}\n\toauth_server\n"}, nil, "warn", "logs", "addresses"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := site
			for i := 0; i+1 < len(c.change); i += 2 {
				if !strings.Contains(changed, c.change[i]) {
					t.Fatalf("the site has no %q", c.change[i])
				}
				changed = strings.Replace(changed, c.change[i], c.change[i+1], 1)
			}
			g := startSite(t, changed)
			if c.harm != nil {
				c.harm(t, g)
			}
			if _, all := examined(t, g); !has(all, c.grade, c.check, c.part) {
				t.Errorf("%+v", all)
			}
		})
	}
}

// An https issuer, with and without what it needs around it.
func TestDoctorChecksTheIssuerFromOutside(t *testing.T) {
	t.Run("a certificate that is not trusted", func(t *testing.T) {
		g := startSite(t, strings.NewReplacer("issuer http://", "issuer https://", "http://$ID {", "https://$ID {\n\ttls internal", "admin $ADMIN",
			"admin $ADMIN\n\tskip_install_trust\n\tauto_https disable_redirects\n\tstorage file_system $DIR/pki").Replace(site)) // a machine may trust its usual one
		_, all := examined(t, g)
		for range 20 { // Caddy's own authority makes the certificate meanwhile
			if has(all, "fail", "issuer", "certificate") {
				break
			}
			time.Sleep(100 * time.Millisecond)
			_, all = examined(t, g)
		}
		if !has(all, "fail", "issuer", "certificate") {
			t.Errorf("%+v", all)
		}
		if has(all, "warn", "plaintext", "") {
			t.Errorf("no redirect, no warning: %+v", all)
		}
	})
	t.Run("plaintext without a proxy to trust", func(t *testing.T) {
		g := startSite(t, strings.NewReplacer("issuer http://", "issuer https://").Replace(site))
		if _, all := examined(t, g); !has(all, "fail", "site", "trusts no proxy") {
			t.Errorf("%+v", all)
		}
	})
	t.Run("plaintext behind a proxy", func(t *testing.T) {
		g := startSite(t, strings.NewReplacer("issuer http://", "issuer https://", "admin $ADMIN", "admin $ADMIN\n\tservers {\n\t\ttrusted_proxies static private_ranges\n\t}").Replace(site))
		if _, all := examined(t, g); !has(all, "ok", "site", "behind a proxy") {
			t.Errorf("%+v", all)
		}
	})
	t.Run("somebody else", func(t *testing.T) {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprint(w, `{"issuer":"https://evil.example"}`)
		}))
		defer other.Close()
		g := startSite(t, strings.Replace(site, "issuer http://$ID", "issuer "+other.URL, 1))
		if _, all := examined(t, g); !has(all, "fail", "issuer", "is not the metadata") {
			t.Errorf("%+v", all)
		}
	})
	t.Run("a clock that differs", func(t *testing.T) {
		var issuer string
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "Mon, 02 Jan 2006 15:04:05 GMT")
			_, _ = fmt.Fprintf(w, `{"issuer":%q}`, issuer)
		}))
		defer other.Close()
		issuer = other.URL
		g := startSite(t, strings.Replace(site, "issuer http://$ID", "issuer "+other.URL, 1))
		if _, all := examined(t, g); !has(all, "fail", "clock", "differ") {
			t.Errorf("%+v", all)
		}
	})
}

// What a configuration with certificates would do, without any: it is only adapted.
func TestDoctorFindsWhoRedirectsPlaintext(t *testing.T) {
	for name, c := range map[string]struct {
		sites string
		want  bool
	}{
		"Caddy by itself":      {"https://$ID {\n\ttls internal\n\toauth_server\n}", true},
		"the site has both":    {"https://$ID, http://localhost:$PLAIN {\n\ttls internal\n\toauth_server\n}", false},
		"redirects turned off": {"{\n\tauto_https disable_redirects\n}\nhttps://$ID {\n\ttls internal\n\toauth_server\n}", false},
	} {
		t.Run(name, func(t *testing.T) {
			ports := harness.FreePorts(t, 1)
			head := "{\n\tadmin $ADMIN\n\tskip_install_trust\n\thttp_port $PLAIN\n\tgatehouse {\n\t\tissuer https://$ID\n\t\tstore bolt $DIR/state.db\n\t}\n"
			rest := c.sites
			if more, ok := strings.CutPrefix(rest, "{\n"); ok {
				rest = more
			} else {
				rest = "}\n" + rest
			}
			harness.Program(t)
			g := harness.Prepare(t, "$PLAIN", fmt.Sprint(ports[0]))
			g.Start(t, head+rest)
			if _, all := examined(t, g); has(all, "warn", "plaintext", "") != c.want {
				t.Errorf("%+v", all)
			}
		})
	}
}
