package job

import "time"

// Config is a kind of job.
type Config struct {
	// The client's path, such as `import-jobs`.
	Path string `json:"path"`
	// The upstream's method. Default: `POST`.
	Method string `json:"method,omitempty"`
	// The upstream's path and query.
	Upstream string `json:"upstream"`
	// A file that is fetched and becomes the upstream's body. Default: the request's body
	// does.
	Fetch *Fetch `json:"fetch,omitempty"`
	// JSON Pointer of the progress in a line of the upstream's answer.
	Progress string `json:"progress,omitempty"`
	// JSON Pointer of the result in the upstream's answer. Default: all of it.
	Result string `json:"result,omitempty"`
	// How often a job that was interrupted is begun again; more than 0 only where that
	// does no harm. Default: 0.
	Retry int `json:"retry,omitempty"`
	// How long a finished job can be read. Default: `24h`.
	Keep time.Duration `json:"keep,omitempty"`
	// The most jobs that wait. Default: 100.
	Queue int `json:"queue,omitempty"`
}

// Fetch is how a file is fetched.
type Fetch struct {
	// The member of the request's body with its address. Default: `file_url`.
	Field string `json:"field,omitempty"`
	// The most bytes. Default: 100 MiB.
	Max int64 `json:"max,omitempty"`
	// How long it may take. Default: `5m`.
	Timeout time.Duration `json:"timeout,omitempty"`
	// The most redirects. Default: 3.
	Redirects int `json:"redirects,omitempty"`
	// Address ranges that are permitted although they are not public.
	Allow []string `json:"allow,omitempty"`
}
