package envelope

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/rest/envelope/leak"
)

// leaking are texts of exceptions and faults as they are really printed. H14
var leaking = []string{
	"java.lang.NullPointerException: Cannot invoke \"User.getId()\"",
	"Error\n    at com.acme.Article.load(Article.java:117)",
	"Traceback (most recent call last):\n  File \"/srv/app/x.py\", line 3, in <module>",
	"goroutine 17 [running]:\nmain.main()",
	"Failure: [Failure instance: Traceback (failure with no frames): <class 'deluge.error.AddTorrentError'>: Torrent already in session",
	"<class 'deluge.error.AddTorrentError'>: Torrent already in session", "Traceback:\n in handler",
	"'NoneType' object has no attribute 'call'",
	"panic: runtime error: index out of range",
	"PHP Fatal error: Uncaught PDOException: SQLSTATE[42S02]: Base table or view not found in /var/www/a.php:12",
	"Warning: mysqli_connect() in C:\\inetpub\\a.php on line 4",
	"ORA-00942: table or view does not exist",
	"System.NullReferenceException: Object reference not set",
	"TypeError: x is undefined\n    at Object.<anonymous> (/app/index.js:10:3)",
	"dial tcp 10.0.0.5:6379: connect: connection refused",
	"cannot reach redis://cache:6379/0",
	"connect ECONNREFUSED 127.0.0.1:5432",
	"upstream 192.168.7.1 said no",
	"upstream 172.20.0.3 said no",
	"localhost:9200 is away",
	"cannot open /etc/passwd",
	`relation "users" does not exist`,
	`duplicate key value violates unique constraint "users_email_key"`,
	`PG::UndefinedColumn: ERROR: column users.foo does not exist`,
	`(psycopg2.errors.UndefinedTable) relation: [SQL: INSERT INTO users]`,
	"E11000 duplicate key error collection: app.users index: email_1",
	"UNIQUE constraint failed: users.email",
	"FOREIGN KEY constraint failed",
	"getaddrinfo ENOTFOUND billing",
	"no such table: users",
	"Unknown column 'foo' in 'where clause'",
	"Table 'app.users' doesn't exist",
	"Duplicate entry 'ann' for key 'users.email'",
	"Cannot add or update a child row: a foreign key constraint fails",
	"Invalid object name 'dbo.users'.",
	"http://billing.internal:8080/charge is away",
	"getaddrinfo EAI_AGAIN db",
	"Redis connection to redis-master:6379 failed",
	"http://[fd12:3456::1]:8080 is away",
	"ENOENT: no such file or directory, open '/app/uploads/x.png'",
	"HTTPConnectionPool(host='billing', port=80): Max retries exceeded with url: /x",
	`The INSERT statement conflicted with the FOREIGN KEY constraint "FK_o". The conflict occurred in database "app", table "dbo.users"`,
	"Incorrect integer value: 'x' for column `app`.`users`.`age` at row 1",
	"Data too long for column 'title' at row 1",
	"Access denied for user 'app'@'web-1' (using password: YES)",
	"Can't connect to MySQL server on 'db1' (110)",
	`near "FROM": syntax error`,
	`unrecognized token: "'x"`,
	"table users has 3 columns but 1 values were supplied", "cannot modify secret_view because it is a view", "ambiguous column name: id", "no such function: nope",
	"1st ORDER BY term out of range - should be between 1 and 3", "table users has no column named foo", "table Order Details has no column named price", `SQLITE_ERROR: table main."a b" has no column named price`,
	"OSError: [Errno 28] No space left on device",
	"billing: Connection refused",
	"connect ECONNREFUSED billing:8080",
	"read ECONNRESET",
	`update or delete on table "a" violates foreign key constraint "b"`,
	`null value in column "a" violates not-null constraint`,
	`new row for relation "a" violates check constraint "c"`,
	`syntax error at or near "FROM"`,
	"You have an error in your SQL syntax",
	"no such column: title",
	"Invalid column name 'title'.",
	"Cannot insert duplicate key row in object 'dbo.a'",
	"Incorrect syntax near ')'.",
	"(sqlite3.IntegrityError)",
	"[SQL: SELECT 1]",
	"Mysql2::Error: x",
	`The DELETE statement conflicted with the REFERENCE constraint "FK_o"`,
	"value too long for type character varying(10)",
	`connection to server at "db1", port 6432 failed`,
	"Can't connect to server on 'db1' (115)",
	"connect EHOSTUNREACH billing:8080",
	"billing: Temporary failure in name resolution",
	"gethostbyname: Name or service not known",
	"billing: No route to host",
	"file_get_contents(x.json): Failed to open stream: Permission denied",
	`FATAL:  password authentication failed for user "app"`,
	"permission denied for table users",
	`invalid input syntax for type uuid: "x"`,
	"connect ETIMEDOUT billing:8080",
	"Could not resolve host: billing",
	"cURL error 28: Operation timed out for http://billing:8080/x",
	"[Errno 2] No such file or directory: '/app/data/x.json'",
	"cannot read [/var/www/x]",
	"path=/opt/app/x",
	"open /app/x: no such file or directory",
	"open file:///srv/x",
}

func TestStackTracesAndInternalAddressesAreHidden(t *testing.T) {
	for _, text := range leaking {
		quoted := string(appendString(nil, text))
		for _, body := range []string{
			`{"message":` + quoted + `}`,
			`{"error":{"code":"c","message":` + quoted + `}}`,
			`{"error":{"code":"c","message":"m","field":` + quoted + `}}`,
			`{"error":{"code":"c","message":"m"},"trace":` + quoted + `}`,
			`[` + quoted + `]`,
			`{"errors":{` + quoted + `:["m"]}}`,
			"<html><title>" + text + "</title>",
			text, "Oh no\n" + text,
		} {
			for _, status := range []int{400, 500} {
				for _, media := range []string{"application/json", "text/html", "text/plain"} {
					rec := through(t, &Config{Expose: true}, "GET", answer(status, map[string]string{"Content-Type": media}, body))
					for line := range strings.SplitSeq(text, "\n") {
						if line = strings.TrimSpace(line); len(line) > 8 && strings.Contains(rec.Body.String(), strings.Trim(string(appendString(nil, line)), `"`)) {
							t.Errorf("%d %s %q gives %s", status, media, body, rec.Body)
						}
					}
				}
			}
		}
	}
}

// Letters may be escaped, in errors of exactly our shape, which pass byte for byte, and in texts in which an API repeats what another
// one said: PHP writes \/, .NET \u0022 and \u0027, and htmlspecialchars &quot; and &#039;.
func TestEscapedLettersHideNoLeak(t *testing.T) {
	escape := strings.NewReplacer("/", `\/`, `\"`, `\u0022`, "'", `\u0027`)
	inHTML := strings.NewReplacer("/", "&#x2F;", `"`, "&quot;", "'", "&#039;", "<", "&lt;", ">", "&gt;")
	for _, text := range leaking {
		escaped := escape.Replace(string(appendString(nil, text)))
		for _, body := range []string{
			`{"error":{"code":"c","message":` + escaped + `}}`,
			`{"error":{"code":"c","message":"m"},"trace":` + escaped + `}`,
			`{"error":{"code":"c","message":"m"},"n":1e400,"trace":` + escaped + `}`,
			`{"message":` + string(appendString(nil, "it said {\"error\":"+escaped+"}")) + `}`,
			`{"message":` + string(appendString(nil, inHTML.Replace(text))) + `}`,
		} {
			rec := through(t, &Config{}, "GET", answer(400, map[string]string{"Content-Type": "application/json"}, body))
			if got := rec.Body.String(); !strings.Contains(got, Lookup(400).Message) && !strings.Contains(got, `"message":"m","field":null}}`) {
				t.Errorf("%s passes", body)
			}
		}
	}
}

func TestDeepJSONIsHarmless(t *testing.T) {
	for _, body := range []string{
		strings.Repeat("[", 60_000), strings.Repeat(`{"a":`, 10_000), strings.Repeat("{", 60_000),
		`{"message":` + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000) + `}`,
	} {
		if rec := through(t, &Config{}, "GET", answer(400, nil, body)); !json.Valid(rec.Body.Bytes()) {
			t.Errorf("%.20s: %s", body, rec.Body)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	for _, media := range []string{"application/json", "text/html; charset=gbk", "text/plain", ""} {
		for _, body := range []string{`{"error":{"code":"c","message":"m","field":"f"}}`, `{"errors":{"a":["b"]}}`, "<title>x</title>", "\x1f\x8b", "x"} {
			f.Add(400, media, "", []byte(body))
			f.Add(503, media, "gzip", []byte(body))
			f.Add(403, media, "zstd", []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, status int, media, coding string, body []byte) {
		status = 400 + (status%600+600)%600
		rec := httptest.NewRecorder()
		w := NewWriter(rec, httptest.NewRequest("GET", "/", nil), &Config{})
		w.Header().Set("Content-Type", media)
		if coding != "" {
			w.Header().Set("Content-Encoding", coding)
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
		w.Finish()
		if rec.Code != status {
			t.Fatal(rec.Code)
		}
		if bytes.Equal(rec.Body.Bytes(), body) && rec.Header().Get("Cache-Control") == "" {
			return // passed as it was
		}
		var got struct {
			Error struct{ Code, Message, Field *string }
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || got.Error.Code == nil || got.Error.Message == nil {
			t.Fatalf("%v: %s", err, rec.Body)
		}
		if *got.Error.Code == "" || *got.Error.Message == "" || utf8.RuneCountInString(*got.Error.Message) > maxMessage || leak.In(*got.Error.Message) {
			t.Fatalf("%s", rec.Body)
		}
		if rec.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("%v", rec.Header())
		}
	})
}
