package envelope

import (
	"bytes"
	"encoding/json"
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
	"connection refused", "econnrefused", "econnreset", "getaddrinfo", "httpconnectionpool(", "[::1]",
	// PostgreSQL, MySQL, SQLite, SQL Server and MongoDB
	"violates unique constraint", "violates foreign key constraint", "violates not-null constraint", "violates check constraint", "syntax error at or near",
	"error in your sql syntax", "a foreign key constraint fails", "foreign key constraint failed", "no such table: ", "no such column: ",
	"invalid object name '", "invalid column name '", "cannot insert duplicate key", "incorrect syntax near",
	"duplicate key error collection", "psycopg2.", "pymysql.", "(sqlite3.", "[sql: ", "mysql2::error",
}

// shapes are texts that a mark cannot describe: frames of stack traces, source positions, names
// of exceptions, missing tables, private addresses, internal hosts, files of the server. A pattern is only
// tried on a text that contains one of its hints, because it costs a hundred times more.
var shapes = []struct {
	hints   []string
	pattern *regexp.Regexp
}{
	{[]string{"("}, regexp.MustCompile(`\bat [\w$.<>]+\(`)},
	{[]string{"\n"}, regexp.MustCompile(`\n\s*at \S`)},
	{[]string{":"}, regexp.MustCompile(`\.(java|kt|php|py|rb|go|cs|js|ts|cpp|c):(line )?\d|\blocalhost:\d|\b[a-z]:\\`)},
	{[]string{"goroutine"}, regexp.MustCompile(`goroutine \d+ \[`)},
	{[]string{"enoent", "enotfound", "pg::"}, regexp.MustCompile(`\b(enoent\b|enotfound\b|pg::\w)`)}, // not in ResourceNotFound
	{[]string{`" does not exist`}, regexp.MustCompile(`\b(relation|column|database|schema) \\?"[^"]+" does not exist`)},
	{[]string{"for key '"}, regexp.MustCompile(`(?s)\bduplicate entry '.*' for key '`)},
	{[]string{"unknown column '"}, regexp.MustCompile(`\bunknown column '[^']*' in '`)},
	{[]string{" constraint failed: "}, regexp.MustCompile(`\b(unique|not null|check) constraint failed: `)},
	{[]string{" doesn't exist"}, regexp.MustCompile(`\btable '[^']+' doesn't exist`)},
	{[]string{"ora-"}, regexp.MustCompile(`\bora-\d{5}`)},
	{[]string{`file "`}, regexp.MustCompile(`file "[^"]+", line`)},
	{[]string{"exception"}, regexp.MustCompile(`\w\.\w+exception\b`)},
	{[]string{"10.", "127.", "192.168.", "172."}, regexp.MustCompile(`\b((127|10)\.\d{1,3}|192\.168|172\.(1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}\b`)},
	{[]string{"[f"}, regexp.MustCompile(`\[f(c|d)[0-9a-f]{2}:`)}, // RFC 4193
	{[]string{".internal", ".local", ".lan", ".svc"}, regexp.MustCompile(`[\w-]\.(internal|local|localdomain|lan|svc)\b`)},
	{[]string{":3306", ":5432", ":6379", ":9200", ":27017"}, regexp.MustCompile(`[\w-]:(3306|5432|6379|9200|27017)\b`)},
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

// leaksJSON is leaks for JSON: its texts are also searched as they are read. PHP writes \/ for a slash, and .NET \u0022 for a quote.
func leaksJSON(text []byte) bool {
	if leaks(string(text)) {
		return true
	}
	var all strings.Builder
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		t, err := d.Token()
		if err != nil {
			return leaks(all.String())
		}
		if s, ok := t.(string); ok {
			all.WriteString(s)
			all.WriteByte('"')
		}
	}
}
