// Package leak tells texts that reveal how an upstream is built from those that say what is wrong with a request.
package leak

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxSearched is how much of a text is searched, in bytes.
const MaxSearched = 8 << 10

// marks are texts that exceptions, databases and drivers print, and that hardly occur elsewhere.
var marks = []string{
	"traceback (", "traceback:", "[failure instance:", "stack trace", "stacktrace", "panic: ", "sqlstate", "fatal error:", "exception in thread", ".php on line",
	"dial tcp", "redis://", "rediss://", "mysql://", "postgres://", "postgresql://", "mongodb://", "amqp://", "jdbc:",
	"connection refused", "econnrefused", "econnreset", "getaddrinfo", "httpconnectionpool(", "[::1]",
	"etimedout", "ehostunreach", "could not resolve host", "failure in name resolution", "name or service not known", "no route to host", "curl error ",
	"[errno ", "failed to open stream", "file:///",
	// PostgreSQL, MySQL, SQLite, SQL Server and MongoDB
	"violates unique constraint", "violates foreign key constraint", "violates not-null constraint", "violates check constraint", "syntax error at or near",
	"error in your sql syntax", "a foreign key constraint fails", "foreign key constraint failed", "no such table: ", "no such column: ", "no such function: ", " order by term out of range",
	"invalid object name '", "invalid column name '", "cannot insert duplicate key", "incorrect syntax near", "conflicted with the foreign key constraint", "conflicted with the reference constraint",
	"password authentication failed for user", "connection to server at ", "can't connect to mysql server", "can't connect to server on '",
	"invalid input syntax for type", "value too long for type character", "data too long for column '", "unrecognized token: ", "ambiguous column name: ",
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
	{[]string{"<class '"}, regexp.MustCompile(`<class '[\w.]+'>`)},
	{[]string{"' object has no attribute '"}, regexp.MustCompile(`'\w+' object has no attribute '`)},
	{[]string{"goroutine"}, regexp.MustCompile(`goroutine \d+ \[`)},
	{[]string{"enoent", "enotfound", "pg::"}, regexp.MustCompile(`\b(enoent\b|enotfound\b|pg::\w)`)}, // not in ResourceNotFound
	{[]string{`" does not exist`}, regexp.MustCompile(`\b(relation|column|database|schema) \\?"[^"]+" does not exist`)},
	{[]string{"for key '"}, regexp.MustCompile(`(?s)\bduplicate entry '.*' for key '`)},
	{[]string{"unknown column '"}, regexp.MustCompile(`\bunknown column '[^']*' in '`)},
	{[]string{" constraint failed: "}, regexp.MustCompile(`\b(unique|not null|check) constraint failed: `)},
	{[]string{"no such file or directory"}, regexp.MustCompile(`(?s)/.*no such file or directory|no such file or directory.*/`)},
	{[]string{"permission denied for "}, regexp.MustCompile(`\bpermission denied for (table|relation|schema|database|sequence) \w`)},
	{[]string{"access denied for user '"}, regexp.MustCompile(`\baccess denied for user '[^']*'@`)},
	{[]string{" has no column named "}, regexp.MustCompile(`(\btable \S+|(^|[^\w\s] ?)table (\w+\.)?[^.:,;]{1,64}) has no column named `)},
	{[]string{" values were supplied"}, regexp.MustCompile(`\btable \S+ has \d+ columns but \d+ values were supplied`)},
	{[]string{" because it is a view"}, regexp.MustCompile(`\bcannot modify \S+ because it is a view`)},
	{[]string{" for column `"}, regexp.MustCompile("` at row \\d")},
	{[]string{": syntax error"}, regexp.MustCompile(`\bnear "[^"]*": syntax error`)},
	{[]string{" doesn't exist"}, regexp.MustCompile(`\btable '[^']+' doesn't exist`)},
	{[]string{"ora-"}, regexp.MustCompile(`\bora-\d{5}`)},
	{[]string{`file "`}, regexp.MustCompile(`file "[^"]+", line`)},
	{[]string{"exception"}, regexp.MustCompile(`\w\.\w+exception\b`)},
	{[]string{"10.", "127.", "192.168.", "172."}, regexp.MustCompile(`\b((127|10)\.\d{1,3}|192\.168|172\.(1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}\b`)},
	{[]string{"[f"}, regexp.MustCompile(`\[f(c|d)[0-9a-f]{2}:`)}, // RFC 4193
	{[]string{".internal", ".local", ".lan", ".svc"}, regexp.MustCompile(`[\w-]\.(internal|local|localdomain|lan|svc)\b`)},
	{[]string{":3306", ":5432", ":6379", ":9200", ":27017"}, regexp.MustCompile(`[\w-]:(3306|5432|6379|9200|27017)\b`)},
	{[]string{"/"}, regexp.MustCompile("(^|[\\s'\"([=:,>`])/(var|home|usr|etc|srv|root|tmp|proc|opt|mnt)/")},
}

// In reports whether a text, as it is or as it reads once it is unescaped, reveals how the upstream is built instead of what
// is wrong with the request.
func In(s string) bool {
	s = strings.ToLower(s[:min(len(s), MaxSearched)])
	return resemblesFault(s) || strings.ContainsAny(s, `\&`) && resemblesFault(unescaped(s))
}

// resemblesFault is In for a text in lower case, as it is.
func resemblesFault(s string) bool {
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

// escapes are those of strings in JSON, which may be part of other strings: PHP writes \/ for a slash, and .NET \u0022 for a quote.
var escapes = regexp.MustCompile(`\\+(u[0-9a-f]{4}|[nrt]?)`)

// unescaped returns a text in lower case without the escapes of JSON and HTML, of ASCII at least.
func unescaped(s string) string {
	s = escapes.ReplaceAllStringFunc(s, func(escape string) string {
		switch code := strings.TrimLeft(escape, `\`); code {
		case "":
			return ""
		case "n", "r", "t":
			return "\n"
		default:
			c, _ := strconv.ParseUint(code[1:], 16, 16) // four hexadecimal digits
			return strings.ToLower(string(rune(c)))
		}
	})
	return html.UnescapeString(s)
}
