package redisconn

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/caddytls" // its trust pools

	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

func TestRedisURLForms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]struct{ text, password string }{
		"redis://h":                                 {"redis://h:6379/0", ""},
		"redis://h:1/":                              {"redis://h:1/0", ""},
		"redis://h:1/3":                             {"redis://h:1/3", ""},
		"rediss://h:1/3":                            {"rediss://h:1/3", ""},
		"redis://[::1]":                             {"redis://[::1]:6379/0", ""},
		"redis://[::1]:2/1":                         {"redis://[::1]:2/1", ""},
		"redis://u:p@h:1/3":                         {"redis://u@h:1/3", "p"},
		"redis://:p@h":                              {"redis://h:6379/0", "p"},
		"redis://u:p%40%2F:x@h":                     {"redis://u@h:6379/0", "p@/:x"},
		"redis://u:p@q@h":                           {"redis://u@h:6379/0", "p@q"},
		"redis+sentinel://a,b:2/main":               {"redis+sentinel://a:26379,b:2/main/0", ""},
		"rediss+sentinel://u:p@a,b/main/4":          {"rediss+sentinel://u@a:26379,b:26379/main/4", "p"},
		"redis+cluster://a,b:2":                     {"redis+cluster://a:6379,b:2", ""},
		"rediss+cluster://u:p@a/0":                  {"rediss+cluster://u@a:6379", "p"},
		"redis://{env.R_USER}:{env.R_PASSWORD}@h":   {"redis://someone@h:6379/0", "a:b@c/d{e}%41"},
		"redis://someone:{file." + file + "}@h:1/2": {"redis://someone@h:1/2", "from a file"},
		"{env.R_URL}":                               {"redis://u@h:1/2", "p"},
		"redis://{env.R_HOST}:7/{env.R_DB}":         {"redis://host:7/5", ""},
		"redis+sentinel://{env.R_HOST}/{env.R_DB}":  {"redis+sentinel://host:26379/5/0", ""},
	} {
		t.Setenv("R_USER", "someone")
		t.Setenv("R_PASSWORD", "a:b@c/d{e}%41")
		t.Setenv("R_URL", "redis://u:p@h:1/2")
		t.Setenv("R_HOST", "host")
		t.Setenv("R_DB", "5")
		c := Config{URL: address}
		got, err := c.Resolve(caddy.NewReplacer())
		if err != nil || got.String() != want.text || revealText(got.password) != want.password {
			t.Errorf("%s: %v (%q), %v, want %v", address, got, revealText(got.password), err, want)
		}
	}
}

func TestUselessRedisURLIsRefusedWithoutItsPassword(t *testing.T) {
	for address, want := range map[string]string{
		"":                                  "expected redis://",
		"h:6379":                            "expected redis://",
		"http://h":                          "expected redis://",
		"redis:hush@h":                      "expected redis://",
		"redis://":                          "expected redis://",
		"redis://:hush@":                    "expected redis://",
		"redis://h:0":                       "expected redis://",
		"redis://h:99999":                   "expected redis://",
		"redis://h:port":                    "expected redis://",
		"redis://u:hush@h h":                "expected redis://",
		"redis://u:hush#@h":                 "", // a hash sign is as good as any
		"redis://a,b":                       "for several, use redis+sentinel",
		"redis://h/x":                       "number of a database",
		"redis://h/-1":                      "number of a database",
		"redis://h/1?x=hush":                "not in a query",
		"redis+sentinel://h":                "name of the primary",
		"redis+sentinel://h/":               "name of the primary",
		"redis+sentinel://h/m/x":            "number of a database",
		"redis+cluster://h/1":               "has only database 0",
		"redis://u@h":                       "a username needs a password",
		"redis://u:hu%zzsh@h":               "percent-encoded",
		"redis://{env.R_NOT_SET}@h":         "R_NOT_SET",
		"{env.R_NOT_SET}":                   "R_NOT_SET",
		"redis+cluster://" + many(65):       "at most 64 hosts",
		"redis://u:hush@h:1:2":              "expected redis://",
		"redis://u:hush@[::1":               "expected redis://",
		"redis+cluster://a,,b":              "expected redis://",
		"rediss+sentinel://u:hush@a,b/m/1/": "",
	} {
		_, err := (&Config{URL: address}).Resolve(caddy.NewReplacer())
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", address, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "hu%") {
			t.Errorf("%s: %v, want %q and no password", address, err, want)
		}
	}
}

func many(n int) string { return strings.TrimSuffix(strings.Repeat("h,", n), ",") }

func TestOptionsAreChecked(t *testing.T) {
	for want, c := range map[string]Config{
		"timeout: expected at most":      {URL: "redis://h", Timeout: caddy.Duration(11 * time.Second)},
		"prefix: expected":               {URL: "redis://h", Prefix: "a b"},
		"prefix: expected at most 64":    {URL: "redis://h", Prefix: strings.Repeat("x", 65)},
		"username is given twice":        {URL: "redis://u:p@h", Username: "v"},
		"password is given twice":        {URL: "redis://u:p@h", Password: "v"},
		"belong to redis+sentinel":       {URL: "redis://h", SentinelPassword: "p"},
		"cert and key belong together":   {URL: "redis://h", TLS: &TLS{Cert: "x"}},
		"tls: open /does/not/exist":      {URL: "redis://h", TLS: &TLS{CA: "/does/not/exist"}},
		"sentinel_password: unrecognize": {URL: "redis+sentinel://h/m", SentinelPassword: "{env.R_NOT_SET}"},
	} {
		if want == "sentinel_password: unrecognize" {
			want = "sentinel_password: "
		}
		if _, err := c.Resolve(caddy.NewReplacer()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c.URL, err, want)
		}
	}
}

func TestPrintedSettingsHideThePassword(t *testing.T) {
	s, err := (&Config{URL: "redis+sentinel://u:hush1@h/m", SentinelPassword: "hush2"}).Resolve(caddy.NewReplacer())
	if err != nil {
		t.Fatal(err)
	}
	type wrapped struct{ settings Settings }
	for _, v := range []any{s, &s, wrapped{s}, &wrapped{s}, []any{wrapped{s}}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, "hush") {
				t.Errorf("%s: %s", verb, text)
			}
		}
	}
	cause := fmt.Errorf("ERR unknown command 'AUTH', with args beginning with: 'hush1' 'hush2'")
	if err := fmt.Errorf("open: %w", s.Clean(cause)); strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "hush") {
		t.Errorf("%v", err)
	}
}

func TestEqualSettingsHaveOneIdentity(t *testing.T) {
	resolve := func(c Config) any {
		s, err := c.Resolve(caddy.NewReplacer())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := resolve(Config{URL: "redis://u:p@h"})
	if first != resolve(Config{URL: "redis://h:6379/0", Username: "u", Password: "p"}) {
		t.Error("two ways to say the same are different")
	}
	for _, other := range []Config{
		{URL: "redis://u:q@h"}, {URL: "redis://v:p@h"}, {URL: "redis://u:p@i"}, {URL: "redis://u:p@h/1"}, {URL: "rediss://u:p@h"},
		{URL: "redis://u:p@h", Prefix: "other:"}, {URL: "redis://u:p@h", Timeout: 1}, {URL: "redis+cluster://u:p@h"},
	} {
		if first == resolve(other) {
			t.Errorf("%+v is taken for the same", other)
		}
	}
}

func TestLiteralRedisPasswordIsRefusedInACaddyfile(t *testing.T) {
	for address, fine := range map[string]bool{
		"redis://h": true, "redis://u@h": true, "redis://u:@h": true, "{env.REDIS_URL}": true,
		"redis://u:{env.P}@h": true, "redis://{env.U}:{env.P}@h": true, "redis://:{file./run/secrets/p}@h": true,
		"redis://u:hush@h": false, "redis://:hush@h": false, "redis+cluster://u:hush@a,b": false, "redis://{env.U}:hush@h": false,
	} {
		err := CheckLiteral(address)
		if (err == nil) != fine || err != nil && (strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "readable in Caddy's stored configuration")) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestRedisCaddyfileOptions(t *testing.T) {
	for block, want := range map[string]struct {
		config Config
		fault  string
	}{
		"prefix a:\ntimeout 2s\nusername u\npassword {env.P}": {config: Config{Prefix: "a:", Timeout: caddy.Duration(2 * time.Second), Username: "u", Password: "{env.P}"}},
		"sentinel_username u\nsentinel_password {env.P}":      {config: Config{SentinelUsername: "u", SentinelPassword: "{env.P}"}},
		"tls {\nca a\ncert b\nkey c\nserver_name d\n}":        {config: Config{TLS: &TLS{CA: "a", Cert: "b", Key: "c", ServerName: "d"}}},
		"tls {\ntrust_pool file a b\n}":                       {config: Config{TLS: &TLS{TrustPool: json.RawMessage(`{"pem_files":["a","b"],"provider":"file"}`)}}},
		"tls":                                                 {config: Config{TLS: &TLS{}}},
		"password hush":                                       {fault: "expected a placeholder"},
		"sentinel_password hush":                              {fault: "expected a placeholder"},
		"tls on":                                              {fault: "wrong argument count"},
		"tls {\ninsecure\n}":                                  {fault: "tls: unrecognized word 'insecure'"},
		"tls {\nca a\nca b\n}":                                {fault: "tls: ca is given twice"},
		"tls {\nca\n}":                                        {fault: "expected one value"},
		"tls {\ntrust_pool\n}":                                {fault: "tls: trust_pool: expected one of Caddy's modules"},
		"tls {\ntrust_pool nowhere\n}":                        {fault: "no module tls.ca_pool.source.nowhere, expected one of: combined, file,"},
		"tls {\nca a\ntrust_pool file b\n}":                   {fault: "expected either ca or trust_pool"},
		"tls {\ntrust_pool file a\ntrust_pool file b\n}":      {fault: "tls: trust_pool is given twice"},
		"timeout never":                                       {fault: "invalid duration"},
		"tls {\nca a\n}\ntls {\nca b\n}":                      {fault: "tls is given twice"},
	} {
		var c Config
		d := caddyfile.NewTestDispenser("redis {\n" + block + "\n}")
		d.Next()
		err := words.Block(d, "the Redis store", c.Words())
		switch {
		case want.fault != "" && (err == nil || !strings.Contains(err.Error(), want.fault) || strings.Contains(err.Error(), "hush")):
			t.Errorf("%q: %v, want %q", block, err, want.fault)
		case want.fault == "" && (err != nil || fmt.Sprintf("%+v", c) != fmt.Sprintf("%+v", want.config) && !reflect.DeepEqual(c, want.config)):
			t.Errorf("%q: %+v, %v", block, c, err)
		}
	}
}
