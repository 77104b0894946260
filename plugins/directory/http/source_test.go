package http

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/plugins/internal/words/wordstest"
)

const full = `http https://legacy.example.com/login {
	as json
	username_field user
	password_field pass
	lookup https://legacy.example.com/users/{id}?key={env.LEGACY_KEY}
	fields {
		id /data/id
		name /data/name
		locked /data/locked
		claim roles /data/roles
	}
	ok 200 201
	refused 401 422
	ok_when /code 0
	refused_when /code 1001 1002
	header X-Key {env.LEGACY_KEY}
	header Accept "application/vnd.legacy+json"
	timeout 2s
	max_body 128KiB
}`

func TestCaddyfileSetsEveryField(t *testing.T) {
	t.Setenv("LEGACY_KEY", wordstest.Secret)
	s, err := wordstest.Loaded[Source](t, full, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := s.settings
	if !got.json || got.username != "user" || strings.Join(got.lookup, "ID") != "https://legacy.example.com/users/ID?key="+wordstest.Secret ||
		got.timeout != 2*time.Second || got.maxBody != 128<<10 || got.headers.Get("X-Key") != wordstest.Secret || len(got.ok) != 2 ||
		got.okWhen.values[0] != "0" || len(got.badWhen.values) != 2 || got.claims["roles"][1] != "roles" {
		t.Errorf("%+v", got)
	}
	raw, err := json.Marshal(s)
	if err != nil || strings.Contains(string(raw), wordstest.Secret) {
		t.Errorf("the configuration holds a secret: %s, %v", raw, err)
	}
}

func TestCaddyfileErrorsAreExplained(t *testing.T) {
	wordstest.Mistakes[Source](t, map[string]string{
		`http`:                                          "expected `http <url>`",
		`http a b`:                                      "expected `http <url>`",
		"http a {\n color red\n}":                       "unrecognized word 'color'",
		"http a {\n as\n}":                              "as: expected one value",
		"http a {\n as form json\n}":                    "as: expected one value",
		"http a {\n as form\n as json\n}":               "as is given twice",
		"http a {\n timeout 0\n}":                       "timeout: invalid duration '0'",
		"http a {\n max_body 2MiB\n}":                   "max_body: expected a size",
		"http a {\n max_body lots\n}":                   "max_body: expected a size",
		"http a {\n tls on\n}":                          "wrong argument count",
		"http a {\n tls {\n ca x\n}\n}":                 "tls: unrecognized word 'ca', expected one of: trust_pool",
		"http a {\n tls {\n trust_pool here\n}\n}":      "no module tls.ca_pool.source.here",
		"http a {\n ok\n}":                              "ok: expected statuses",
		"http a {\n refused no\n}":                      "refused: expected statuses",
		"http a {\n ok_when /code\n}":                   "expected `ok_when <pointer> <value...>`",
		"http a {\n header X\n}":                        "expected `header <name> <value>`",
		"http a {\n header X a\n header X b}":           "header X is given twice",
		"http a {\n ok 200\n ok 204 200\n}":             "ok: 200 is given twice",
		"http a {\n refused\n}":                         "refused: expected statuses",
		"http a {\n fields {\n color /x\n}\n}":          "unknown field 'color'",
		"http a {\n fields {\n id\n}\n}":                "id: expected one pointer",
		"http a {\n fields {\n id /a\n id /b\n}\n}":     "id is given twice",
		"http a {\n fields {\n claim\n}\n}":             "expected `claim <name> <pointer>`",
		"http a {\n fields x {\n id /a\n}\n}":           "wrong argument count",
		"http a {\n fields {\n claim a /a\n claim a /b": "a is given twice",
	})
}

func TestInvalidConfigIsRefused(t *testing.T) {
	t.Setenv("LEGACY_KEY", wordstest.Secret)
	wordstest.Refuses(t, full, map[string]struct {
		Change func(*Source)
		Want   string
	}{
		"no url":              {func(s *Source) { s.URL = "" }, "url"},
		"in the clear":        {func(s *Source) { s.URL = "http://legacy.example.com" }, "in the clear"},
		"look-up in clear":    {func(s *Source) { s.Lookup = "http://legacy.example.com/{id}" }, "in the clear"},
		"another scheme":      {func(s *Source) { s.URL = "file:///x" }, "url"},
		"a password in it":    {func(s *Source) { s.URL = "https://u:p@a" }, "without user"},
		"unknown placeholder": {func(s *Source) { s.URL = "https://{nothing.here}" }, "url"},
		"no id":               {func(s *Source) { s.Lookup = "https://a/users" }, "{id}"},
		"id for a host":       {func(s *Source) { s.Lookup = "https://{id}.example.com/" }, "{id}"},
		"id in a port":        {func(s *Source) { s.Lookup = "https://a:{id}/x" }, "lookup"},
		"another form":        {func(s *Source) { s.As = "xml" }, "as"},
		"one field for both":  {func(s *Source) { s.PasswordField = "user" }, "same"},
		"a status of nothing": {func(s *Source) { s.OK = []int{99} }, "99"},
		"a redirect is ok":    {func(s *Source) { s.OK = []int{302} }, "302"},
		"ok and refused":      {func(s *Source) { s.Refused = []int{200} }, "both"},
		"no pointer":          {func(s *Source) { s.Fields = map[string]string{"id": "id"} }, "JSON pointer"},
		"a broken pointer":    {func(s *Source) { s.Fields = map[string]string{"id": "/a~2"} }, "JSON pointer"},
		"unknown field":       {func(s *Source) { s.Fields = map[string]string{"color": "/x"} }, "unknown field"},
		"a broken claim":      {func(s *Source) { s.Claims = map[string]string{"a": ""} }, "claim a"},
		"a broken condition":  {func(s *Source) { s.OKWhen = &Condition{"x", []string{"1"}} }, "ok_when"},
		"no pointer to an id": {func(s *Source) { s.RefusedID = "id" }, "refused_id: expected a JSON pointer"},
		"an empty condition":  {func(s *Source) { s.RefusedWhen = &Condition{"/x", nil} }, "refused_when"},
		"no header":           {func(s *Source) { s.Headers = map[string]string{"a b": "x"} }, "not a header"},
		"two lines":           {func(s *Source) { s.Headers = map[string]string{"a": "x\r\ny"} }, "not a header"},
		"our header":          {func(s *Source) { s.Headers = map[string]string{"content-type": "x"} }, "ours to set"},
		"a header twice":      {func(s *Source) { s.Headers = map[string]string{"a": "x", "A": "y"} }, "given twice"},
		"header placeholder":  {func(s *Source) { s.Headers = map[string]string{"a": "{nothing.here}"} }, "header a"},
		"no such ca":          {func(s *Source) { s.CA = "/nowhere" }, "ca"},
		"two trusts":          {func(s *Source) { s.CA, s.TLS = "/dev/null", trust("/dev/null") }, "either ca or tls"},
		"no certificate":      {func(s *Source) { s.CA = "/dev/null" }, "no certificate"},
		"a long timeout":      {func(s *Source) { s.Timeout = caddy.Duration(time.Hour) }, "timeout"},
		"a huge answer":       {func(s *Source) { s.MaxBody = mostBody + 1 }, "max_body"},
	})
}

func TestIdentityFollowsEverySetting(t *testing.T) {
	wordstest.Identities(t, full, "LEGACY_KEY", func(s *Source) { s.OK = nil }, func(s *Source) { s.OKWhen = nil })
}

// FuzzAnswer looks for a panic, and for a user that nobody can be.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"id":"1","user":{"name":"Ann","locked":false},"roles":["a"]}`, `{"id":1e400}`, `{"id":{}}`, `[]`, `null`, `{"id":"client:x"}`,
		`{"user":{"locked":[]}}`, strings.Repeat(`[`, 100),
	} {
		f.Add([]byte(seed))
	}
	src := &Source{
		URL: "https://legacy.example.com", Fields: map[string]string{"name": "/user/name", "locked": "/user/locked", "picture": "/roles/0"},
		Claims: map[string]string{"roles": "/roles"}, OKWhen: &Condition{"/user/name", []string{"Ann", "0"}},
	}
	settings, err := src.resolveSettings(caddy.NewReplacer())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		answer, err := decodeAnswer(body)
		if err != nil {
			return
		}
		settings.okWhen.isMet(answer)
		u, err := settings.userFrom(answer, "typed")
		if bad := u.Check(); err == nil && bad != nil {
			t.Errorf("%q gave %+v: %v", body, u, bad)
		}
	})
}
