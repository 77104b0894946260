package operation_test

import (
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// uuid4 is a UUID of version 4, as APIs check it.
var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// call is one of a client with a key.
type call struct{ client, subject, method, path, version, media, key string }

func (c call) apiKey(t *testing.T) string {
	t.Helper()
	table, err := routes.New([]resource.Resource{{Path: "orders"}, {Path: "notes"}})
	if err != nil {
		t.Fatal(err)
	}
	m, _, refused := table.Match(c.method, c.path)
	if refused != nil {
		t.Fatal(refused)
	}
	made := &operation.Call{Request: httptest.NewRequest(c.method, c.path, nil), VersionPrefix: c.version, MediaType: c.media}
	if c.key != "" {
		made.Request.Header.Set(operation.KeyHeader, c.key)
	}
	if c.client != "" {
		made.Access = &token.Access{Client: c.client, Subject: c.subject}
	}
	return made.APIKey(m)
}

func TestAPIKeyIsAUUIDOfCallerAndRequest(t *testing.T) {
	first := call{"app", "ann", "POST", "/orders", "", "", "k1"}
	key := first.apiKey(t)
	if !uuid4.MatchString(key) {
		t.Errorf("%s is no UUID of version 4", key)
	}
	seen := map[string]string{key: "the first"}
	for name, change := range map[string]func(*call){
		"another client":           func(c *call) { c.client = "web" },
		"another user":             func(c *call) { c.subject = "bob" },
		"no caller":                func(c *call) { c.client = "" },
		"another resource":         func(c *call) { c.path = "/notes" },
		"another method":           func(c *call) { c.method, c.path = "PATCH", "/orders/1" },
		"another item":             func(c *call) { c.method, c.path = "PATCH", "/orders/2" },
		"another version":          func(c *call) { c.version = "/v1" },
		"another version's media":  func(c *call) { c.media = "application/vnd.acme.v1+json" },
		"another key":              func(c *call) { c.key = "k2" },
		"client and user together": func(c *call) { c.client, c.subject = "appann", "" },
	} {
		other := first
		change(&other)
		got := other.apiKey(t)
		if before, known := seen[got]; known || !uuid4.MatchString(got) {
			t.Errorf("%s has the key %s, as %s", name, got, before)
		}
		seen[got] = name
	}
}

func TestAPIKeyIsTheSameInEachSpellingOfARepetition(t *testing.T) {
	first := call{"app", "ann", "POST", "/orders", "/v1", "", "k1"}
	key := first.apiKey(t)
	for name, c := range map[string]struct {
		change func(*call)
		want   string
	}{
		"the same":              {func(*call) {}, key},
		"in quotes":             {func(c *call) { c.key = `"k1"` }, `"` + key + `"`},
		"in quotes, with space": {func(c *call) { c.key = ` "k1" ` }, `"` + key + `"`},
		"the version twice":     {func(c *call) { c.media = "application/vnd.acme.v1+json" }, key},
		"without a key":         {func(c *call) { c.key = "" }, ""},
		"with an empty key":     {func(c *call) { c.key = `""` }, ""},
	} {
		other := first
		c.change(&other)
		if got := other.apiKey(t); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestNewKeysAreUUIDs(t *testing.T) {
	if a, b := operation.NewKey(), operation.NewKey(); !uuid4.MatchString(a) || !uuid4.MatchString(b) || a == b {
		t.Error(a, b)
	}
}
