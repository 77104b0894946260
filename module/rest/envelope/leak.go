package envelope

import (
	"regexp"
	"slices"
	"strings"
)

// maxSearched bounds the length of a text that is searched, and of a body that is passed
// unchanged.
const maxSearched = 8 << 10

// marks are texts that exceptions, databases and drivers print, and that hardly occur elsewhere.
var marks = []string{
	"traceback (most recent", "stack trace", "stacktrace", "panic: ", "sqlstate", "fatal error:", "exception in thread", ".php on line",
	"dial tcp", "redis://", "rediss://", "mysql://", "postgres://", "postgresql://", "mongodb://", "amqp://", "jdbc:",
}

// shapes are texts that a mark cannot describe: frames of stack traces, source positions, names
// of exceptions, private addresses, files of the server. A pattern is only tried on a text that
// contains one of its hints, because it costs a hundred times more.
var shapes = []struct {
	hints   []string
	pattern *regexp.Regexp
}{
	{[]string{"("}, regexp.MustCompile(`\bat [\w$.<>]+\(`)},
	{[]string{"\n"}, regexp.MustCompile(`\n\s*at \S`)},
	{[]string{":"}, regexp.MustCompile(`\.(java|kt|php|py|rb|go|cs|js|ts|cpp|c):(line )?\d|\blocalhost:\d|\b[a-z]:\\`)},
	{[]string{"goroutine"}, regexp.MustCompile(`goroutine \d+ \[`)},
	{[]string{"ora-"}, regexp.MustCompile(`\bora-\d{5}`)},
	{[]string{`file "`}, regexp.MustCompile(`file "[^"]+", line`)},
	{[]string{"exception"}, regexp.MustCompile(`\w\.\w+exception\b`)},
	{[]string{"10.", "127.", "192.168.", "172."}, regexp.MustCompile(`\b((127|10)\.\d{1,3}|192\.168|172\.(1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}\b`)},
	{[]string{"/"}, regexp.MustCompile(`(^|[\s'"(])/(var|home|usr|etc|srv|root|tmp|proc)/`)},
}

// leaks reports whether a text reveals how the upstream is built instead of what is wrong with
// the request.
func leaks(s string) bool {
	s = strings.ToLower(s[:min(len(s), maxSearched)])
	has := func(part string) bool { return strings.Contains(s, part) }
	if slices.ContainsFunc(marks, has) {
		return true
	}
	for _, shape := range shapes {
		if slices.ContainsFunc(shape.hints, has) && shape.pattern.MatchString(s) {
			return true
		}
	}
	return false
}
