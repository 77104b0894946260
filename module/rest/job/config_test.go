package job

import (
	"strings"
	"testing"
	"time"
)

func TestInvalidConfigErrorNamesTheOption(t *testing.T) {
	good := Config{Path: "import-jobs", Upstream: "/api.php?mod=import", Fetch: &Fetch{}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for word, change := range map[string]func(*Config){
		"job :":              func(c *Config) { c.Path = "" },
		"job a{id}":          func(c *Config) { c.Path = "a{id}" },
		"job /jobs/x":        func(c *Config) { c.Path = "/jobs/x" },
		"name":               func(c *Config) { c.Name = strings.Repeat("x", 101) },
		"upstream api":       func(c *Config) { c.Upstream = "api" },
		"upstream /{id}":     func(c *Config) { c.Upstream = "/{id}" },
		"upstream GET":       func(c *Config) { c.Method = "GET" },
		"when never":         func(c *Config) { c.When = "never" },
		"when preferred":     func(c *Config) { c.When = "preferred" },
		"progress x":         func(c *Config) { c.Progress = "x" },
		"result x":           func(c *Config) { c.Result = "x" },
		"retry -1":           func(c *Config) { c.Retry = -1 },
		"retry 11":           func(c *Config) { c.Retry = 11 },
		"queue 1001":         func(c *Config) { c.Queue = 1001 },
		"per_client -1":      func(c *Config) { c.PerClient = -1 },
		"workers 101":        func(c *Config) { c.Workers = 101 },
		"keep 1ms":           func(c *Config) { c.Keep = time.Millisecond },
		"timeout 200h0m0s":   func(c *Config) { c.Timeout = 200 * time.Hour },
		"fetch: max -1":      func(c *Config) { c.Fetch.Max = -1 },
		"fetch: timeout 1ms": func(c *Config) { c.Fetch.Timeout = time.Millisecond },
		"fetch: redirects":   func(c *Config) { c.Fetch.Redirects = 11 },
		"fetch: part":        func(c *Config) { c.Fetch.Part = `a"b` },
		"fetch: allow x":     func(c *Config) { c.Fetch.Allow = []string{"x"} },
		"fetch: allow ::ff":  func(c *Config) { c.Fetch.Allow = []string{"::ffff:10.0.0.0/104"} },
	} {
		c := good
		f := *good.Fetch
		c.Fetch = &f
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), "expected") && !strings.Contains(err.Error(), "pointer") {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func TestOmittedOptionsHaveDefaults(t *testing.T) {
	c := Config{Path: "/import-jobs/", Upstream: "/x", Queue: 5, Fetch: &Fetch{}}.Defaulted()
	if c.Path != "import-jobs" || c.Name != "import-jobs" || c.Method != "POST" || c.Keep != 24*time.Hour || c.PerClient != 5 || c.Workers != 4 || c.Timeout != time.Hour {
		t.Errorf("%+v", c)
	}
	if f := c.Fetch; f.Field != "file_url" || f.Max != 100<<20 || f.Timeout != 5*time.Minute || f.Redirects != 3 {
		t.Errorf("%+v", f)
	}
	if c := (Config{Fetch: &Fetch{Redirects: -1}}).Defaulted(); c.Fetch.Redirects != 0 {
		t.Error("-1 is none")
	}
}
