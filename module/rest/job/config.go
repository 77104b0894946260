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

// Config declares a kind of job.
type Config struct {
	// The client's path, such as `import-jobs`. Required.
	Path string `json:"path"`
	// The name of its queue in the store, which must differ between jobs with the same path at
	// several sites. After a restart, waiting jobs are run by the queue with this name. Default:
	// the path.
	Name string `json:"name,omitempty"`
	// The upstream's method. Default: `POST`.
	Method string `json:"method,omitempty"`
	// The upstream's path and query. Required.
	Upstream string `json:"upstream"`
	// A file that is fetched and becomes the upstream's body. Default: the body is the
	// request's, up to 128 KiB.
	Fetch *Fetch `json:"fetch,omitempty"`
	// `always` (the default): every POST makes a job. `preferred`: only a POST with `Prefer:
	// respond-async` or `wait` does; others are ordinary requests. If a resource declares a POST
	// of the path, its rules for the body apply to the job's, too.
	When string `json:"when,omitempty"`
	// JSON Pointer of the progress, 0 to 100, in each line of an upstream's answer in JSON lines
	// (application/x-ndjson), whose last line is the result. Default: how much of the file has
	// been passed on, if its length is known.
	Progress string `json:"progress,omitempty"`
	// JSON Pointer of the result in the upstream's answer. Default: the whole answer. Results of
	// more than 64 KiB are not kept, nor those for which a client has no room left.
	Result string `json:"result,omitempty"`
	// How often an interrupted job is started again; use more than 0 only if that does no harm.
	// Default: 0, the job fails with the code `interrupted`.
	Retry int `json:"retry,omitempty"`
	// How long the upstream may take, in nanoseconds. Default: `1h`.
	Timeout time.Duration `json:"timeout,omitempty"`
	// How long a finished job can be read, in nanoseconds. If a client has no room left, it is at most 10 minutes.
	// Default: `24h`.
	Keep time.Duration `json:"keep,omitempty"`
	// The maximum number of waiting and running jobs, on all nodes. Default: 100, at most 1,000.
	Queue int `json:"queue,omitempty"`
	// The maximum number of these for one client or, without a token, for one address (IPv6: its
	// /64). All callers without a token share half of `queue`, or this number if it is higher,
	// and a third of that share is reserved for callers without any job. Default: 20, or `queue`
	// if that is less.
	PerClient int `json:"per_client,omitempty"`
	// The maximum number of jobs that this node runs at a time, for all ports of a site together and including those that began
	// before a reload. One caller (a client and user, or an address) has at most three quarters of them, rounded up. Default: 4.
	Workers int `json:"workers,omitempty"`
}

// Fetch configures how a file is fetched.
type Fetch struct {
	// The member of the request's body that contains its URL. Default: `file_url`.
	Field string `json:"field,omitempty"`
	// The field of a multipart form in which the upstream expects the file. Default: the file is
	// the body.
	Part string `json:"part,omitempty"`
	// The maximum size in bytes. Default: 100 MiB.
	Max int64 `json:"max,omitempty"`
	// How long to wait for the file's server in total, in nanoseconds. Default: `5m`.
	Timeout time.Duration `json:"timeout,omitempty"`
	// The maximum number of redirects, -1 for none. Default: 3, at most 10.
	Redirects int `json:"redirects,omitempty"`
	// Address ranges that are permitted although they are not public, such as `10.1.0.0/16`.
	// Default: none.
	Allow []string `json:"allow,omitempty"`
	// Address ranges from which files may also be fetched by `http`, public or not. The address
	// of each connection counts, also after a redirect. Default: none, `https` only.
	Insecure []string `json:"insecure,omitempty"`
}

// Bounds of Config.
const (
	maxQueue     = 1000
	maxWorkers   = 100
	maxRetry     = 10
	maxRedirects = 10
)

// Defaulted returns the configuration with defaults.
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

// Check returns an error that names the option and its value, and says what is expected. A
// number that is zero has its default.
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
