package job

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// Config is a kind of job.
type Config struct {
	// The client's path, such as `import-jobs`. Required.
	Path string `json:"path"`
	// The name of its queue in the store, which must differ for jobs of the same path at
	// several sites. A job that waits is run by whatever has this name after a restart.
	// Default: the path.
	Name string `json:"name,omitempty"`
	// The upstream's method. Default: `POST`.
	Method string `json:"method,omitempty"`
	// The upstream's path and query. Required.
	Upstream string `json:"upstream"`
	// A file that is fetched and becomes the upstream's body. Default: the request's body
	// does, up to 128 KiB of it.
	Fetch *Fetch `json:"fetch,omitempty"`
	// `always` (the default): every POST makes a job. `preferred`: only one that has
	// `Prefer: respond-async` or `wait` does, others are requests like any other. Where a
	// resource declares a POST of the path, what holds for its body holds for the job's.
	When string `json:"when,omitempty"`
	// JSON Pointer of the progress, 0 to 100, in each line of an upstream's answer in
	// JSON lines (application/x-ndjson); the last line is the result. Default: how much of
	// the file has been passed on, where its length is known.
	Progress string `json:"progress,omitempty"`
	// JSON Pointer of the result in the upstream's answer. Default: all of it. A result of
	// more than 64 KiB is not kept.
	Result string `json:"result,omitempty"`
	// How often a job that was interrupted is begun again; more than 0 only where that
	// does no harm. Default: 0, it is failed with the code `interrupted`.
	Retry int `json:"retry,omitempty"`
	// How long the upstream may take. Default: `1h`.
	Timeout time.Duration `json:"timeout,omitempty"`
	// How long a finished job can be read. Default: `24h`.
	Keep time.Duration `json:"keep,omitempty"`
	// The most jobs that wait or run, on all nodes. Default: 100, at most 1,000.
	Queue int `json:"queue,omitempty"`
	// The most of them that one client has, or one address (IPv6: its /64) without a token. All
	// callers without a token have half of `queue` together, or this if it is more, and a
	// third of that is for those who have no job yet. Default: 20, or `queue` where that is less.
	PerClient int `json:"per_client,omitempty"`
	// The most jobs that this node runs at a time. Default: 4.
	Workers int `json:"workers,omitempty"`
}

// Fetch is how a file is fetched.
type Fetch struct {
	// The member of the request's body with its address. Default: `file_url`.
	Field string `json:"field,omitempty"`
	// The field of a multipart form that the upstream takes the file from. Default: the
	// file is the body.
	Part string `json:"part,omitempty"`
	// The most bytes. Default: 100 MiB.
	Max int64 `json:"max,omitempty"`
	// How long may be waited for the file's server, altogether. Default: `5m`.
	Timeout time.Duration `json:"timeout,omitempty"`
	// The most redirects, -1 for none. Default: 3, at most 10.
	Redirects int `json:"redirects,omitempty"`
	// Address ranges that are permitted although they are not public, such as
	// `10.1.0.0/16`. Default: none.
	Allow []string `json:"allow,omitempty"`
	// Address ranges that may be fetched from by `http` too, public or not. What counts is
	// the address of each connection, also after a redirect. Default: none, `https` only.
	Insecure []string `json:"insecure,omitempty"`
}

// Bounds of Config.
const (
	maxQueue     = 1000
	maxWorkers   = 100
	maxRetry     = 10
	maxRedirects = 10
)

// Defaulted is the configuration with what was left out.
func (c Config) Defaulted() Config {
	c.Path = strings.Trim(c.Path, "/")
	c.Name = cmp.Or(c.Name, c.Path)
	c.Method = cmp.Or(c.Method, http.MethodPost)
	c.When = cmp.Or(c.When, "always")
	c.Timeout = cmp.Or(c.Timeout, time.Hour)
	c.Keep = cmp.Or(c.Keep, 24*time.Hour)
	c.Queue = cmp.Or(c.Queue, 100)
	c.PerClient = cmp.Or(c.PerClient, min(20, c.Queue))
	c.Workers = cmp.Or(c.Workers, 4)
	if c.Fetch != nil {
		f := *c.Fetch
		f.Field = cmp.Or(f.Field, "file_url")
		f.Max = cmp.Or(f.Max, 100<<20)
		f.Timeout = cmp.Or(f.Timeout, 5*time.Minute)
		f.Redirects = max(cmp.Or(f.Redirects, 3), 0)
		if c.Fetch.Redirects < 0 {
			f.Redirects = 0
		}
		c.Fetch = &f
	}
	return c
}

// Check reports what is wrong, by word, value and what was expected. The zero value of a
// number is its default.
func (c Config) Check() error {
	path := strings.Trim(c.Path, "/")
	switch {
	case path == "" || strings.ContainsAny(path, "{}?#% ") || strings.Contains(path, "//"):
		return fmt.Errorf("job %s: expected a path such as import-jobs", c.Path)
	case path == "jobs" || strings.HasPrefix(path, "jobs/"):
		return fmt.Errorf("job %s: expected another path than that of the jobs themselves", c.Path)
	case len(c.Name) > 100:
		return fmt.Errorf("job %s: name %s: expected at most 100 bytes", path, c.Name)
	}
	if err := c.check(); err != nil {
		return fmt.Errorf("job %s: %w", path, err)
	}
	return nil
}

func (c Config) check() error {
	switch {
	case !strings.HasPrefix(c.Upstream, "/") || strings.ContainsAny(c.Upstream, "# {}\r\n"):
		return fmt.Errorf("upstream %s: expected the upstream's path, beginning with /, without placeholders", c.Upstream)
	case c.Method != "" && c.Method != http.MethodPost && c.Method != http.MethodPut && c.Method != http.MethodPatch:
		return fmt.Errorf("upstream %s: expected the method POST, PUT or PATCH", c.Method)
	case c.When != "" && c.When != "always" && c.When != "preferred":
		return fmt.Errorf("when %s: expected always or preferred", c.When)
	case c.When == "preferred" && c.Fetch != nil:
		return fmt.Errorf("when preferred: expected no fetch, since a file is never fetched while the client waits")
	}
	for _, p := range []struct{ word, text string }{{"progress", c.Progress}, {"result", c.Result}} {
		if _, err := splice.ParsePointer(p.text); err != nil {
			return fmt.Errorf("%s %s: %w", p.word, p.text, err)
		}
	}
	for _, n := range []struct {
		word        string
		value, most int
	}{
		{"retry", c.Retry, maxRetry}, {"queue", c.Queue, maxQueue}, {"per_client", c.PerClient, maxQueue}, {"workers", c.Workers, maxWorkers},
	} {
		if n.value < 0 || n.value > n.most {
			return fmt.Errorf("%s %d: expected 0 to %d", n.word, n.value, n.most)
		}
	}
	for _, d := range []struct {
		word  string
		value time.Duration
	}{{"keep", c.Keep}, {"timeout", c.Timeout}} {
		if d.value != 0 && (d.value < time.Second || d.value > maxAge) {
			return fmt.Errorf("%s %v: expected 1s to %v", d.word, d.value, maxAge)
		}
	}
	if c.Fetch != nil {
		if err := c.Fetch.check(); err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
	}
	return nil
}

func (f *Fetch) check() error {
	switch {
	case f.Max < 0:
		return fmt.Errorf("max %d: expected a number of bytes", f.Max)
	case f.Timeout != 0 && (f.Timeout < time.Second || f.Timeout > maxAge):
		return fmt.Errorf("timeout %v: expected 1s to %v", f.Timeout, maxAge)
	case f.Redirects < -1 || f.Redirects > maxRedirects:
		return fmt.Errorf("redirects %d: expected -1 to %d", f.Redirects, maxRedirects)
	case strings.ContainsAny(f.Part, "\"\\\r\n") || len(f.Part) > 100:
		return fmt.Errorf("part %s: expected the name of a form's field", f.Part)
	}
	if _, err := prefixes("allow", f.Allow); err != nil {
		return err
	}
	_, err := prefixes("insecure", f.Insecure)
	return err
}

func prefixes(word string, texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if addr, e := netip.ParseAddr(text); e == nil && addr.Zone() == "" {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil || p.Addr().Is4In6() {
			return nil, fmt.Errorf("%s %s: expected an address range such as 10.1.0.0/16", word, text)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}
