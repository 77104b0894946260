package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// placedFinding is a finding with its line.
type placedFinding struct{ Check, Grade, Message, Remedy, Where string }

// checkedFile runs doctor on a Caddyfile without a gateway.
func checkedFile(t *testing.T, g *harness.Gateway, caddyfile string) (code int, all []placedFinding) {
	t.Helper()
	t.Setenv("XDG_DATA_HOME", g.Dir)
	name := g.WriteFile(t, "Caddyfile", g.Text(caddyfile))
	r := program(t, "", "gatehouse", "doctor", "--config", name, "--format", "json")
	if err := json.Unmarshal([]byte(r.out), &all); err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	for _, f := range all {
		if f.Message == "" || (f.Remedy == "") != (f.Grade == "ok") {
			t.Errorf("%+v", f)
		}
	}
	return r.code, all
}

// changed is the site with parts replaced, which must be there.
func changed(t *testing.T, parts ...string) string {
	t.Helper()
	text := site
	for i := 0; i < len(parts); i += 2 {
		if !strings.Contains(text, parts[i]) {
			t.Fatalf("the site has no %q", parts[i])
		}
		text = strings.Replace(text, parts[i], parts[i+1], 1)
	}
	return text
}

const publicIssuer = "issuer https://id.example.com"

func TestDoctorAcceptsAGoodFile(t *testing.T) {
	code, all := checkedFile(t, prepare(t), site)
	for _, f := range all {
		if f.Grade == "fail" || f.Grade == "warn" && f.Check != "issuer" && f.Check != "secrets" {
			t.Errorf("%+v", f)
		}
	}
	if code != 0 || len(all) < 8 {
		t.Errorf("exit %d: %+v", code, all)
	}
}

// Each of these is a mistake that somebody makes, found before any gateway runs.
func TestDoctorFindsMistakesInAFile(t *testing.T) {
	redis := redistest.Start(t, "--requirepass", "right")
	for name, c := range map[string]struct {
		changes            []string
		grade, check, part string
		where              string // a part of the line
	}{
		"a misspelt word":                    {[]string{"tokens {", "tokenz {"}, "fail", "configuration", "did you mean tokens", ""},
		"a public issuer without TLS":        {[]string{"issuer http://$ID", "issuer http://id.example.com"}, "fail", "configuration", "expected https", ""},
		"an issuer with a slash":             {[]string{"issuer http://$ID", "issuer http://$ID/"}, "fail", "configuration", "no slash at the end", ""},
		"an issuer for trying out":           {nil, "warn", "issuer", "plain http", "issuer "},
		"an issuer that is another site":     {[]string{"issuer http://$ID", publicIssuer}, "fail", "issuer", "every token names an issuer that does not answer", "issuer "},
		"TLS that nobody ends":               {[]string{"issuer http://$ID", publicIssuer, "http://$ID {", "http://id.example.com {"}, "fail", "site", "trusts no proxy", "oauth_server"},
		"a redirect address without TLS":     {[]string{"redirect_uri https://", "redirect_uri http://"}, "fail", "configuration", "must be https", ""},
		"a redirect address with a fragment": {[]string{"redirect_uri https://client.example/cb", `redirect_uri "https://client.example/cb#x"`}, "fail", "configuration", "redirect_uri", ""},
		"a proxy whose clients can lie":      {[]string{"admin $ADMIN", "admin $ADMIN\n\tservers {\n\t\ttrusted_proxies static private_ranges\n\t}"}, "warn", "proxies", "leftmost address in X-Forwarded-For", "trusted_proxies"},
		"counts that each node has alone":    {[]string{"store bolt $DIR/state.db", "secret {env.GATEHOUSE_SECRET}\n\t\tstore redis {env.REDIS_GOOD}", "\treverse_proxy", "\tapi_limit {\n\t\tip 5 1h\n\t}\n\treverse_proxy"}, "warn", "nodes", "several nodes admit so many times the limit", "store"},
		"a wrong password of Redis":          {[]string{"store bolt $DIR/state.db", "secret {env.GATEHOUSE_SECRET}\n\t\tstore redis {env.REDIS_WRONG}"}, "fail", "store", "WRONGPASS", "store"},
		"a Redis that is not there":          {[]string{"store bolt $DIR/state.db", "secret {env.GATEHOUSE_SECRET}\n\t\tstore redis {env.REDIS_GONE}"}, "fail", "store", "refused", "store"},
		"a shared store without a secret":    {[]string{"store bolt $DIR/state.db", "store redis {env.REDIS_GOOD}"}, "fail", "configuration", "keeps no secret of its own", ""},
		"a variable that is not set":         {[]string{web.Secret, "{env.NOBODY_SETS_THIS}"}, "warn", "environment", "NOBODY_SETS_THIS", "secret {env.NOBODY"},
		"users that cannot be read":          {[]string{"users store", "users file $DIR/users.json"}, "fail", "users", "users.json:1: expected", "users"},
		"users that are not there":           {[]string{"users store", "users file $DIR/none.json"}, "fail", "users", "no such file", "users"},
		"an API without TLS":                 {[]string{"http://$API {", "http://api.example.com:$PORT {"}, "warn", "tls", "takes tokens for api.example.com without TLS", ""},
		"an unknown scope of a client":       {[]string{"scopes read write", "scopes read wirte"}, "fail", "configuration", "wirte is not declared", ""},
		"an unknown scope of a rule":         {[]string{"scope write POST", "scope wirte POST"}, "fail", "configuration", "wirte", ""},
		"a scope that nobody may ask for":    {[]string{"scope write \"Write\"", "scope write \"Write\"\n\t\tscope rare \"Rare\"", "scope write POST", "scope rare POST"}, "warn", "scopes", "the scope rare, which no client", "scope rare POST"},
		"a short secret":                     {[]string{web.Secret, "short"}, "fail", "configuration", "expected at least 32", ""},
		"a secret of one letter":             {[]string{web.Secret, strings.Repeat("ab", 20)}, "warn", "secrets", "can be guessed", "abab"},
		"a secret from an example":           {[]string{web.Secret, "changeme-0123456789-abcdefghijklmnop"}, "warn", "secrets", "can be guessed", "changeme"},
		"an audience of no token":            {[]string{"$GUARD", "audience https://elsewhere.example"}, "fail", "guard", "https://elsewhere.example, which no token is issued for", "oauth_guard"},
		"a guard without rules":              {[]string{"public GET /public /public/*\n\t\tscope read GET,HEAD /read /read/*\n\t\tscope write POST,PUT,DELETE /read /read/*\n", ""}, "warn", "guard", "no rules", "oauth_guard"},
		"a guard in the shadow":              {[]string{"$GUARD", "shadow"}, "warn", "guard", "refuses nothing", "oauth_guard"},
		"an API without a guard":             {[]string{"oauth_guard {", "handle /nowhere {", "public GET /public /public/*\n\t\tscope read GET,HEAD /read /read/*\n\t\tscope write POST,PUT,DELETE /read /read/*\n", ""}, "warn", "guard", "has no oauth_guard: nobody needs a token there", "reverse_proxy"},
		"a limit in front of its guard":      {[]string{"\toauth_guard {", "\troute {\n\tapi_limit {\n\t\tuser 5 1h\n\t}\n\toauth_guard {", "\treverse_proxy $UPSTREAM", "\treverse_proxy $UPSTREAM\n\t}"}, "fail", "configuration", "api_limit", ""},
		"a guard with nothing behind it":     {[]string{"reverse_proxy $UPSTREAM", ""}, "warn", "reach", "no handler behind oauth_guard answers", ""},
		"tokens in the log":                  {[]string{"admin $ADMIN", "admin $ADMIN\n\tservers {\n\t\tlog_credentials\n\t}", "\toauth_server\n", "\toauth_server\n\tlog\n"}, "fail", "logs", "tokens and sessions can be read there", "log_credentials"},
		"addresses in a log at DEBUG":        {[]string{"admin $ADMIN", "admin $ADMIN\n\tdebug", "\toauth_server\n", "\thandle_path /old/* {\n\t\trespond gone\n\t}\n\toauth_server\n"}, "warn", "logs", "the log default is at level DEBUG", "debug"},
		"a public client that is trusted":    {[]string{"$GLOBAL", "client p {\n public\n trusted\n redirect_uri https://p.example/cb\n scopes read\n}"}, "warn", "clients", "client p is public and trusted", "client p {"},
		"scripts that no guard lets in":      {[]string{"$GLOBAL", "client p {\n public\n redirect_uri https://p.example/cb\n scopes read\n}"}, "warn", "cors", "has no `cors <origins>`", "oauth_guard"},
		"an admin endpoint for everybody":    {[]string{"admin $ADMIN", "admin :2999"}, "fail", "admin", "the network can change the configuration", "admin"},
		"a matcher that caches ignore":       {[]string{"oauth_guard {", "@read oauth_scope read\n\trespond @read hello\n\thandle /nowhere {", "public GET /public /public/*\n\t\tscope read GET,HEAD /read /read/*\n\t\tscope write POST,PUT,DELETE /read /read/*\n", ""}, "warn", "caches", "a shared cache gives them to everybody", "oauth_scope"},
		"the same in a named route":          {[]string{"oauth_guard {", "invoke beta\n\thandle /nowhere {", "public GET /public /public/*\n\t\tscope read GET,HEAD /read /read/*\n\t\tscope write POST,PUT,DELETE /read /read/*\n", "", "http://$API {", "&(beta) {\n\t@read oauth_scope read\n\trespond @read hello\n}\nhttp://$API {"}, "warn", "caches", "by oauth_scope, and do not say so", "oauth_scope"},
		"a provider that caches ignore":      {[]string{"oauth_guard {", "oauth_authentication\n\thandle /nowhere {", "public GET /public /public/*\n\t\tscope read GET,HEAD /read /read/*\n\t\tscope write POST,PUT,DELETE /read /read/*\n", ""}, "warn", "caches", "by oauth_authentication, and do not say so", "oauth_authentication"},
		"a header that caches heed":          {[]string{"\toauth_guard {", "\theader {\n\t\t-Server\n\t\tCache-Control \"public, max-age=300\"\n\t}\n\toauth_guard {"}, "warn", "headers", "changes Cache-Control of refusals and pages", "header"},
		"a header that replaces Vary":        {[]string{"\toauth_guard {", "\theader {\n\t\t-Server\n\t\tVary Accept-Language\n\t}\n\toauth_guard {"}, "warn", "headers", "removes Authorization from Vary", "header"},
		"a header that replaces some Vary":   {[]string{"\toauth_guard {", "\theader {\n\t\tmatch status 2xx\n\t\tVary Accept-Language\n\t}\n\toauth_guard {"}, "warn", "headers", "removes Authorization from Vary", "header"},
		"a header of errors":                 {[]string{"\treverse_proxy", "\thandle_errors {\n\t\theader Vary Accept-Language\n\t\trespond gone\n\t}\n\treverse_proxy"}, "warn", "headers", "a header in `handle_errors`", "header Vary"},
		"a way by gRPC":                      {[]string{"\toauth_guard {", "\t@grpc protocol grpc\n\thandle @grpc {\n\t\treverse_proxy $UPSTREAM\n\t}\n\thandle {\n\toauth_guard {", "\treverse_proxy $UPSTREAM\n}", "\treverse_proxy $UPSTREAM\n\t}\n}"}, "warn", "guard", "such as header fields or the protocol", "oauth_guard {"},
		"a way by another host":              {[]string{"http://$API {", "http://api.example.com:$PORT, http://old.example.com:$PORT {\n\t@old host old.example.com\n\thandle @old {\n\t\treverse_proxy $UPSTREAM\n\t}", "\toauth_guard {", "\thandle {\n\toauth_guard {", "\treverse_proxy $UPSTREAM\n}", "\treverse_proxy $UPSTREAM\n\t}\n}"}, "warn", "guard", "the site old.example.com :", ""},
		"a way by an error":                  {[]string{"\treverse_proxy", "\thandle_errors {\n\t\treverse_proxy $UPSTREAM\n\t}\n\treverse_proxy"}, "warn", "guard", "`handle_errors` of the site", ""},
		"a token in a field of the log":      {[]string{"\toauth_guard {", "\tlog_append token {header.Authorization}\n\toauth_guard {"}, "warn", "logs", "writes {http.request.header.Authorization} into logs", "log_append"},
		"a guard behind a path matcher":      {[]string{"\toauth_guard {", "\toauth_guard /read/* {"}, "warn", "guard", "decides whether a request passes oauth_guard", "oauth_guard /read/*"},
		"no admin endpoint":                  {[]string{"admin $ADMIN", "admin off"}, "warn", "admin", "is off", "admin"},
		"no gatehouse":                       {[]string{"\tgatehouse {", "\tservers :1 {\n\t\tname x\n\t}\n\tgatehouze {"}, "fail", "configuration", "gatehouze", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := prepare(t)
			g.WriteFile(t, "users.json", `[{"username": "alice",}]`)
			t.Setenv("GATEHOUSE_SECRET", "a-secret-0123456789-0123456789-0123456789")
			t.Setenv("REDIS_GOOD", "redis://:right@"+redis.Addr+"/0")
			t.Setenv("REDIS_WRONG", "redis://:wrong@"+redis.Addr+"/0")
			t.Setenv("REDIS_GONE", fmt.Sprintf("redis://:right@127.0.0.1:%d/0", harness.FreePorts(t, 1)[0]))
			_, port, _ := net.SplitHostPort(strings.TrimPrefix(g.API, "http://"))
			text := strings.ReplaceAll(changed(t, c.changes...), "$PORT", port)
			_, all := checkedFile(t, g, text)
			lines := strings.Split(g.Text(text), "\n")
			if !slices.ContainsFunc(all, func(f placedFinding) bool {
				var line int
				_, err := fmt.Sscanf(f.Where, "Caddyfile:%d", &line)
				return f.Grade == c.grade && f.Check == c.check && strings.Contains(f.Message, c.part) && (c.where == "" || err == nil && strings.Contains(lines[line-1], c.where))
			}) {
				t.Errorf("%+v", all)
			}
		})
	}
}

func TestDoctorFindsUsedPortsAndSlowClocks(t *testing.T) {
	g := prepare(t)
	l, err := net.Listen("tcp", ":"+strings.Split(g.API, ":")[2])
	harness.FailOn(t, err)
	defer l.Close()
	name := g.WriteFile(t, "Caddyfile", g.Text(site))
	later := time.Now().Add(48 * time.Hour)
	harness.FailOn(t, os.Chtimes(name, later, later))
	r := program(t, "", "gatehouse", "doctor", "--config", name)
	if r.code != 1 || !strings.Contains(r.out, "another process listens on") || !strings.Contains(r.out, "the clock of this machine is behind") || !strings.Contains(r.out, "no gateway answers at") {
		t.Errorf("%+v", r)
	}
}

func TestDoctorChecksAFileAndItsGateway(t *testing.T) {
	up := harness.NewUpstream(t)
	g := harness.Prepare(t, "$UPSTREAM", up.Addr, "$GLOBAL", "", "$GUARD", "")
	p := g.Run(t, site)
	defer p.Stop()
	r := program(t, "", "gatehouse", "doctor", "--config", g.WriteFile(t, "Caddyfile", g.Text(site)))
	for _, part := range []string{"Caddyfile can be loaded", "endpoint at " + strings.TrimPrefix(g.Admin, "http://") + " answers", "answers with its metadata", "the running gateway: "} {
		if !strings.Contains(r.out, part) {
			t.Errorf("no %q in %+v", part, r)
		}
	}
	if strings.Contains(r.out, "another process") || strings.Count(r.out, "is plain http") != 1 {
		t.Errorf("%+v", r)
	}
	if r := program(t, "", "gatehouse", "doctor", "--config", "Caddyfile", "--address", "localhost:1"); r.code != 1 || !strings.Contains(r.err, "give one of them") {
		t.Errorf("%+v", r)
	}
}

func TestDoctorChecksAFileBesideAnotherGateway(t *testing.T) {
	other := prepare(t)
	p := other.Run(t, site)
	defer p.Stop()
	g := prepare(t)
	text := strings.Replace(g.Text(site), "admin "+strings.TrimPrefix(g.Admin, "http://"), "admin "+strings.TrimPrefix(other.Admin, "http://"), 1)
	r := program(t, "", "gatehouse", "doctor", "--config", g.WriteFile(t, "Caddyfile", text))
	if r.code != 0 || !strings.Contains(r.out, "another gateway, "+other.ID+", runs at") || strings.Contains(r.out, "the running gateway") || strings.Count(r.out, other.ID) != 1 {
		t.Errorf("%+v", r)
	}
	l, err := net.Listen("tcp", ":"+strings.Split(g.API, ":")[2])
	harness.FailOn(t, err)
	defer l.Close()
	for name, text := range map[string]string{
		"another gateway":                        text,
		"the gateway, with one port that is new": strings.Replace(other.Text(site), strings.TrimPrefix(other.API, "http://"), strings.TrimPrefix(g.API, "http://"), 1),
	} {
		r := program(t, "", "gatehouse", "doctor", "--config", g.WriteFile(t, "Caddyfile", text))
		if r.code != 1 || strings.Count(r.out, "another process listens on") != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestDoctorSaysHowToNameACaddyfile(t *testing.T) {
	g := prepare(t)
	name := g.WriteFile(t, "site.caddy", g.Text(site))
	if r := program(t, "", "gatehouse", "doctor", "--config", name); r.code != 1 || !strings.Contains(r.out, "add `--adapter caddyfile`") {
		t.Errorf("%+v", r)
	}
	if r := program(t, "", "gatehouse", "doctor", "--config", name, "--adapter", "caddyfile"); r.code != 0 || !strings.Contains(r.out, "site.caddy can be loaded") {
		t.Errorf("%+v", r)
	}
}
