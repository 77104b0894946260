package cli

import (
	"net/http"
	"strings"
	"testing"
)

func TestAdminAPIFollowsREST(t *testing.T) {
	g := start(t)
	long := strings.Repeat("x", 64<<10)
	for name, c := range map[string]struct {
		method, path, body string
		want               int
		code, field        string
		headers            []string
	}{
		"an unknown address":             {"GET", "nothing", "", 404, "not_found", "", nil},
		"the root":                       {"GET", "", "", 404, "not_found", "", nil},
		"a slash too many":               {"GET", "clients/", "", 404, "not_found", "", nil},
		"something below a client":       {"GET", "clients/web/x/y", "", 404, "not_found", "", nil},
		"an unknown client":              {"GET", "clients/none", "", 404, "not_found", "", nil},
		"an unknown user":                {"GET", "users/none", "", 404, "not_found", "", nil},
		"an unknown key":                 {"DELETE", "keys/none", "", 404, "not_found", "", nil},
		"an unknown grant":               {"DELETE", "users/none/grants/g", "", 404, "not_found", "", nil},
		"a name too long":                {"GET", "clients/" + strings.Repeat("x", 600), "", 404, "not_found", "", nil},
		"another method":                 {"PUT", "clients", "{}", 405, "method_not_allowed", "", nil},
		"rotation by GET":                {"GET", "keys/rotate", "", 405, "method_not_allowed", "", nil},
		"a lock by GET":                  {"GET", "users/a/lock", "", 405, "method_not_allowed", "", nil},
		"an unknown parameter":           {"GET", "clients?x=1", "", 400, "invalid_parameter", "x", nil},
		"a secret in the address":        {"POST", "clients/web/rotate-secret?overlap=0", "", 400, "invalid_parameter", "overlap", nil},
		"a parameter twice":              {"GET", "clients?limit=1&limit=2", "", 400, "invalid_parameter", "limit", nil},
		"a malformed query":              {"GET", "clients?a=%zz", "", 400, "bad_request", "", nil},
		"no limit":                       {"GET", "clients?limit=0", "", 400, "invalid_parameter", "limit", nil},
		"a limit above the cap":          {"GET", "clients?limit=1001", "", 400, "invalid_parameter", "limit", nil},
		"a limit that is no number":      {"GET", "clients?limit=x", "", 400, "invalid_parameter", "limit", nil},
		"a form":                         {"POST", "clients", "id=x", 415, "unsupported_media_type", "", []string{"Content-Type", "application/x-www-form-urlencoded"}},
		"no media type":                  {"POST", "clients", "{}", 415, "unsupported_media_type", "", []string{"Content-Type", ""}},
		"no JSON":                        {"POST", "clients", "{", 400, "bad_request", "", nil},
		"two objects":                    {"POST", "clients", "{}{}", 400, "bad_request", "", nil},
		"an unknown field":               {"POST", "clients", `{"nmae":"x"}`, 400, "invalid_parameter", "nmae", nil},
		"a field of another type":        {"POST", "clients", `{"scopes":"read"}`, 400, "invalid_parameter", "scopes", nil},
		"a field that is only told":      {"POST", "clients", `{"secrets":[{}]}`, 400, "invalid_parameter", "secrets", nil},
		"an undeclared scope":            {"POST", "clients", `{"scopes":["nope"]}`, 400, "invalid_parameter", "scopes", nil},
		"a bad redirect address":         {"POST", "clients", `{"redirect_uris":["http://x.example/"]}`, 400, "invalid_parameter", "redirect_uris", nil},
		"an id with a space":             {"POST", "clients", `{"id":"a b","scopes":["read"]}`, 400, "invalid_parameter", "id", nil},
		"an unknown grant type":          {"POST", "clients", `{"grants":["x"],"scopes":["read"]}`, 400, "invalid_parameter", "grants", nil},
		"an id that is taken":            {"POST", "clients", `{"id":"web","scopes":["read"]}`, 409, "conflict", "id", nil},
		"a body too long":                {"POST", "clients", `{"id":"` + long + `"}`, 413, "payload_too_large", "", nil},
		"an overlap that is no duration": {"POST", "clients/x/rotate-secret", `{"overlap":"soon"}`, 400, "invalid_parameter", "overlap", nil},
		"an unknown algorithm":           {"POST", "keys/rotate", `{"alg":"none"}`, 400, "invalid_parameter", "alg", nil},
		"an empty client":                {"DELETE", "users/u/grants?client=", "", 400, "invalid_parameter", "client", nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := call(t, g, c.method, c.path, c.body, c.headers...)
			code, message, field := adminError(t, p)
			if p.Status != c.want || code != c.code || field != c.field || message == "" {
				t.Errorf("%d %s", p.Status, p.Body)
			}
			if p.Header.Get("Cache-Control") != "no-store" || p.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%v", p.Header)
			}
			if (p.Header.Get("Allow") != "") != (c.want == http.StatusMethodNotAllowed) {
				t.Errorf("Allow: %q", p.Header.Get("Allow"))
			}
		})
	}
}

func TestInvalidCommandArgumentsAreRefused(t *testing.T) {
	g := start(t)
	for _, words := range [][]string{
		{"client", "list", "x"}, {"client", "list", "--nonsense"}, {"client", "list", "--format", "yaml"},
		{"client", "create", "a", "b"}, {"client", "create", ""}, {"client", "create", "a b", "--scope", "read"}, {"client", "create", "x", "--scope", "nope"},
		{"client", "create", "x", "--redirect-uri", "javascript:alert(1)"}, {"client", "create", "x", "--grant", "magic"},
		{"client", "create", "x", "--deprecated-grant", "password=soon"}, {"client", "create", "x", "--deprecated-grant", "password"},
		{"client", "create", "x", "--jwks", "/nonexistent"}, {"client", "create", "x", "--public", "--grant", "client_credentials"},
		{"client", "show"}, {"client", "show", "a", "b"}, {"client", "show", "none"}, {"client", "delete"}, {"client", "delete", "none"},
		{"client", "rotate-secret"}, {"client", "rotate-secret", "none"}, {"client", "rotate-secret", "web"}, {"client", "rotate-secret", "x", "--overlap", "soon"},
		{"client", "rotate-secret", "x", "--overlap", "-1h"}, {"client", "rotate-secret", "x", "--overlap", "91d"},
		{"user", "list", "x"}, {"user", "show"}, {"user", "show", "none"}, {"user", "show", "x", "--by", "name"},
		{"user", "add"}, {"user", "add", "a", "b"}, {"user", "lock"}, {"user", "lock", "none"}, {"user", "unlock", "none"},
		{"user", "passwd"}, {"user", "delete"}, {"user", "delete", "none"}, {"user", "add", "x", "--claims", "[]", "--generate"},
		{"grant", "list"}, {"grant", "list", "none"}, {"grant", "revoke"}, {"grant", "revoke", "u"}, {"grant", "revoke", "u", "g", "--all"},
		{"grant", "revoke", "u", "none"}, {"grant", "revoke", "u", "--client", ""}, {"grant", "revoke", "u", "--client", "c", "--all"}, {"grant", "revoke", "u", "a", "b"},
		{"keys", "list", "x"}, {"keys", "rotate", "x"}, {"keys", "rotate", "--alg", "HS256"}, {"keys", "revoke"}, {"keys", "revoke", "none"}, {"keys", "revoke", "a", "b"},
		{"doctor", "x"}, {"doctor", "--format", "xml"},
		{"explain"}, {"explain", "GET"}, {"explain", "GET", "nowhere"}, {"explain", "GET", "ftp://x/"}, {"explain", "G ET", "/x"}, {"explain", "GET", "https://elsewhere.example/"},
		{"client", "list", "--config", "/nonexistent"}, {"client", "list", "--adapter", "caddyfile"},
	} {
		r := command(t, g, "", words...)
		if r.code == 0 || r.out != "" || len(r.err) < 10 {
			t.Errorf("%q: %+v", words, r)
		}
		if strings.Contains(r.err, "panic") || strings.Contains(r.err, "goroutine") {
			t.Errorf("%q: %s", words, r.err)
		}
	}
}

func TestUsageErrorSaysWhatWasExpected(t *testing.T) {
	g := start(t)
	for words, want := range map[string]string{
		"user add":                            "USERNAME is missing, expected `caddy gatehouse user add USERNAME`",      // S11
		"user add x y":                        "'y' is one word too many, expected `caddy gatehouse user add USERNAME`", // S11
		"doctor now":                          "unexpected word 'now', expected `caddy gatehouse doctor` alone",         // S11
		"client create x --scop read":         "did you mean --scope?",                                                  // S11
		"keys revoke -c9":                     "a word of which the first character is - goes behind --",
		"keys revoke -9":                      "a word of which the first character is - goes behind --",
		"explain GET https://other.example/":  "there are: ",
		"user add x --generate --email x.y":   "the email has no @",
		"client create x --jwks wire_test.go": "(PEM is not read)",
		"explain GET /nowhere --scope reed":   "",
	} {
		r := command(t, g, "", strings.Fields(words)...)
		if want != "" && (r.code == 0 || !strings.Contains(r.err, want)) {
			t.Errorf("%s: %+v, want %s", words, r, want)
		}
		if want == "" && !strings.Contains(r.out, "the scope reed is not declared") {
			t.Errorf("%s: %+v", words, r)
		}
	}
	if r := program(t, "", "gatehouse", "user", "list", "--address", "/run/caddy.sock"); r.code != 1 || !strings.Contains(r.err, "unix//run/caddy.sock") {
		t.Errorf("%+v", r)
	}
}

func TestUnknownCommandIsRefusedAndGroupsPrintHelp(t *testing.T) {
	for _, words := range [][]string{{"nonsense"}, {"user", "nonsense"}, {"client", "x"}, {"grant", "x"}, {"keys", "x"}} {
		r := program(t, "", append([]string{"gatehouse"}, words...)...)
		if r.code != 1 || r.out != "" || !strings.Contains(r.err, "expected one of") {
			t.Errorf("%v: %+v", words, r)
		}
	}
	for words, want := range map[string]string{"clinet list": "did you mean client?", "client creat x": "did you mean create?"} { // S11
		if r := program(t, "", append([]string{"gatehouse"}, strings.Fields(words)...)...); r.code != 1 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", words, r)
		}
	}
	for words, want := range map[string]string{"": "doctor", "user": "passwd", "client": "rotate-secret", "grant": "revoke", "keys": "rotate"} {
		r := program(t, "", append([]string{"gatehouse"}, strings.Fields(words)...)...)
		if r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("%q: %+v", words, r)
		}
		// S11: one usage line, and no link to the documentation of Caddy's own commands.
		if usage, _, _ := strings.Cut(r.out[strings.Index(r.out, "Usage:"):], "\n\n"); strings.Count(usage, "caddy gatehouse") != 1 || strings.Contains(r.out, "caddyserver.com") {
			t.Errorf("%q: %s", words, r.out)
		}
	}
	for _, words := range []string{"user add", "doctor", "client create"} {
		if r := program(t, "", append([]string{"gatehouse"}, strings.Fields(words+" --help")...)...); r.code != 0 || strings.Contains(r.out, "caddyserver.com") || strings.Count(r.out, "Usage:") != 1 || !strings.Contains(r.out, "caddy gatehouse "+words) {
			t.Errorf("%q: %s", words, r.out)
		}
	}
}
