package restapi

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// corpus is declared over an upstream that answers anything.
const corpus = `"upstream": $TO, "header_down": ["X-Named"], "resources": [
	{"path": "things", "routes": [
		{"method": "GET", "path": "/things", "upstream": "/t"}, {"method": "POST", "path": "/things", "upstream": "/t"},
		{"method": "GET", "path": "/things/{id}", "upstream": "/t/{id}"}, {"method": "PATCH", "path": "/things/{id}", "upstream": "/t/{id}"},
		{"method": "DELETE", "path": "/things/{id}", "upstream": "/t/{id}"}],
		"list": {"items": "/list", "total": "/total"}, "item": "/r", "id": "/id", "rename": {"name": "n"}},
	{"path": "files", "item": "/r", "pass": ["text/csv", "text/html"]},
	{"path": "old", "item": "/r", "charset": "latin1"},
	{"path": "made", "created": {"status": 201}, "routes": [
		{"method": "POST", "path": "/made", "upstream": "/m"}, {"method": "GET", "path": "/made/{id}", "upstream": "/m/{id}"}]},
	{"path": "plain"}],
	"errors": {"fail_when": [{"pointer": "/success", "op": "==", "values": ["false"], "status": 422}]}`

// Whole answers that recur in the corpus.
const (
	notRead = `{"error":{"code":"upstream_error","message":"the service behind the gateway gave an answer that could not be read","field":null}}`
	noThing = `{"error":{"code":"not_found","message":"there is nothing at this address","field":null}}`
	cutOff  = `{"error":{"code":"upstream_error","message":"the service behind the gateway broke off its answer","field":null}}`
	aPage   = "<!DOCTYPE html><title>Sign in</title><form action=/login.php><input name=password></form>"
	aFatal  = "<br />\n<b>Fatal error</b>:  Uncaught PDOException: SQLSTATE[HY000] [2002] 10.0.0.7 in <b>/srv/shop/db.php</b> on line <b>12</b><br />"
	aThing  = `{"r":{"id":1,"n":"x"}}`
	ours    = `{"id":1,"name":"x"}`
	things  = `{"list":[{"id":1,"n":"x"}],"total":1}`
	page1   = `{"data":[{"id":1,"name":"x"}],"pagination":{"total":1,"page":1,"limit":20,"total_pages":1}}`
	links1  = "Link: </things?limit=20&page=1>; rel=\"first\", </things?limit=20&page=1>; rel=\"last\""
)

// gone is what the client gets where the connection ends before the answer does.
const gone = -1

// answerCase is an answer of an upstream, and what the client gets for it.
type answerCase struct {
	name    string
	request string // method and path; "" for GET /things/1
	head    string // status line and header, without the length
	body    string
	cut     int    // how many bytes of the body are not sent
	chunked bool   // the body is sent in chunks
	status  int    // what the client gets; gone for a connection that ends
	media   string // its Content-Type
	want    string // its body
	header  string // its other fields, but Content-Length and Date, a line each
}

// failed is an answer that is a failure for the client.
func (c answerCase) failed(status int, body string) answerCase {
	c.status, c.media, c.want, c.header = status, "application/json", body, "Cache-Control: no-store"
	return c
}

// R02, R03, R07: whatever an upstream answers, this is what the client gets: status, type, body
// and every other header field.
func TestUpstreamAnswerCorpus(t *testing.T) {
	const js, html = "200 OK\nContent-Type: application/json", "200 OK\nContent-Type: text/html; charset=utf-8"
	get := func(name, head, body string) answerCase { return answerCase{name: name, head: head, body: body} }
	thing := func(name, head, body string) answerCase {
		return answerCase{name: name, head: head, body: body, status: 200, media: "application/json", want: ours}
	}
	to := func(request string, c answerCase) answerCase {
		c.request = request
		return c
	}
	latin := strings.Replace(aThing, "x", "M\xfcller", 1)
	cases := []answerCase{
		// Types and wrappers.
		thing("JSON", js, aThing),
		thing("JSON with white space", js, " \r\n\t"+aThing+"\n"),
		thing("another kind of JSON", "200 OK\nContent-Type: application/vnd.api+json; v=1", aThing),
		thing("the old type of JSON", "200 OK\nContent-Type: text/json", aThing),
		thing("JSON labelled HTML", html, aThing),
		thing("JSON labelled as text", "200 OK\nContent-Type: text/plain", aThing),
		thing("JSON labelled as a script", "200 OK\nContent-Type: text/javascript", aThing),
		thing("JSON without a label", "200 OK", aThing),
		thing("JSON as a download", js+"\nContent-Disposition: attachment; filename=x.json", aThing),
		get("JSON labelled as a picture", "200 OK\nContent-Type: image/png", aThing).failed(502, notRead),
		get("JSON labelled XML", "200 OK\nContent-Type: application/xml", aThing).failed(502, notRead),
		get("XML", "200 OK\nContent-Type: application/xml", "<r><id>1</id></r>").failed(502, notRead),
		get("a function call around JSON", "200 OK\nContent-Type: text/javascript", "callback("+aThing+");").failed(502, notRead),
		thing("a guard against scripts in front", js, "for(;;);"+aThing),
		get("the resource is elsewhere", js, `{"s":{"id":1}}`).failed(502, notRead),
		get("the resource is a list", js, `{"r":[{"id":1}]}`).failed(502, notRead),
		get("the resource is an empty list", js, `{"r":[]}`).failed(404, noThing),
		get("the resource has nothing in it", js, `{"r":{}}`).failed(404, noThing),
		get("the resource is null", js, `{"r":null}`).failed(404, noThing),
		get("the resource is false", js, `{"r":false}`).failed(404, noThing),
		to("GET /things", answerCase{name: "a list", head: js, body: things, status: 200, media: "application/json", want: page1, header: links1}),
		to("GET /things", answerCase{name: "a list as a map", head: js, body: `{"list":{"7":{"id":1,"n":"x"}},"total":"1"}`, status: 200, media: "application/json", want: page1, header: links1}),
		to("GET /things", get("a list that is a text", js, `{"list":"none","total":0}`).failed(502, notRead)),
		to("GET /plain/1", answerCase{name: "JSON of which nothing is declared", head: js, body: aThing, status: 200, media: "application/json", want: aThing}),
		to("GET /plain", get("a list with a comment behind it", js, `[{"id":1}] // 3 ms`).failed(502, notRead)),

		// Charsets.
		thing("a byte order mark", js, "\xef\xbb\xbf"+aThing),
		get("Latin-1 without a label", js, latin).failed(502, notRead),
		get("Latin-1 labelled UTF-8", js+"; charset=utf-8", latin).failed(502, notRead),
		{name: "Latin-1 that says so", head: js + "; charset=iso-8859-1", body: latin, status: 200, media: "application/json", want: `{"id":1,"name":"Müller"}`},
		{name: "UTF-8 labelled Latin-1", head: js + "; charset=iso-8859-1", body: `{"r":{"id":1,"n":"Müller"}}`, status: 200, media: "application/json", want: `{"id":1,"name":"Müller"}`},
		to("GET /old/1", answerCase{name: "Latin-1 that is configured", head: js, body: latin, status: 200, media: "application/json", want: "{\"id\":1,\"n\":\"Müller\"}"}),
		{name: "Shift_JIS", head: js + "; charset=Shift_JIS", body: "{\"r\":{\"id\":1,\"n\":\"\x83\x5c\"}}", status: 200, media: "application/json", want: `{"id":1,"name":"ソ"}`},
		{name: "UTF-16", head: js + "; charset=utf-16le", body: encodedIn(t, "utf-16le", aThing), status: 200, media: "application/json", want: ours},
		get("a stray byte", js, strings.Replace(aThing, "x", "\xff", 1)).failed(502, notRead),
		thing("a charset that nobody knows", js+"; charset=utf8mb4", aThing),

		// Broken JSON, and what stands around JSON.
		get("a comment behind it", js, aThing+" // 3 ms").failed(502, notRead),
		get("a comment in HTML behind it", html, aThing+"<!-- 3 ms -->").failed(502, notRead),
		get("a comment in it", js, `{"r":{"id":1 /* x */}}`).failed(502, notRead),
		get("a comma too many", js, `{"r":{"id":1,}}`).failed(502, notRead),
		get("NaN", js, `{"r":{"id":1,"n":NaN}}`).failed(502, notRead),
		get("two documents", js, aThing+aThing).failed(502, notRead),
		thing("a notice in front", html, "<br />\n<b>Notice</b>:  Undefined index: {x} in <b>a.php</b><br />\n"+aThing),
		get("a fatal error behind half of it", js, aThing[:12]+aFatal).failed(502, notRead),

		// Pages and other answers that are not JSON.
		get("a page to sign in at", html, aPage).failed(502, notRead),
		get("a fatal error of PHP", html, aFatal).failed(502, notRead),
		get("a page labelled JSON", js, aPage).failed(502, notRead),
		get("a word", "200 OK\nContent-Type: text/plain", "OK").failed(502, notRead),
		to("GET /files/1", answerCase{name: "a page of a type that passes", head: html, body: aPage, status: 200, media: "text/html; charset=utf-8", want: aPage}),
		to("GET /files/1", answerCase{name: "a table that passes", head: "200 OK\nContent-Type: text/csv", body: "1,2\n", status: 200, media: "text/csv", want: "1,2\n"}),
		to("GET /files/1", thing("JSON labelled as a page that passes", html, `{"r":{"id":1,"name":"x"}}`)),
		to("GET /files/1", get("the same with a comment behind it", html, aThing+"<!-- 3 ms -->").failed(502, notRead)),
		to("GET /plain/1", answerCase{name: "a page of which nothing is declared", head: html, body: aPage, status: 200, media: "text/html; charset=utf-8", want: aPage}),
		to("PATCH /things/1", get("a page after a change", html, aPage).failed(502, notRead)),
		to("PATCH /things/1", answerCase{name: "a word after a change", head: "200 OK\nContent-Type: text/plain", body: "OK", status: 204}),

		// Failures with a status of success, and failures.
		get("a failure with status 200", js, `{"success":false,"message":"No such thing"}`).failed(422, `{"error":{"code":"validation_failed","message":"No such thing","field":null}}`),
		get("the same labelled HTML", html, `{"success":false,"message":"No such thing"}`).failed(422, `{"error":{"code":"validation_failed","message":"No such thing","field":null}}`),
		get("an error in JSON", "404 Not Found\nContent-Type: application/json", `{"message":"No such thing"}`).failed(404, `{"error":{"code":"not_found","message":"No such thing","field":null}}`),
		get("an error about a member", "400 Bad Request\nContent-Type: application/json", `{"message":"Too short","field":"n"}`).failed(400, `{"error":{"code":"invalid_parameter","message":"Too short","field":"name"}}`),
		get("an error as a page", "403 Forbidden\nContent-Type: text/html", "<title>Not for you</title>").failed(403, `{"error":{"code":"forbidden","message":"Not for you","field":null}}`),
		get("an error without a body", "409 Conflict", "").failed(409, `{"error":{"code":"conflict","message":"the request conflicts with the present state","field":null}}`),
		get("an error in Latin-1 without a label", "404 Not Found\nContent-Type: application/json", "{\"message\":\"M\xfcller\"}").failed(404, `{"error":{"code":"not_found","message":"there is nothing at this address","field":null}}`),
		get("a fatal error with its status", "500 Internal Server Error\nContent-Type: text/html", aFatal).failed(500, `{"error":{"code":"upstream_error","message":"the request could not be processed","field":null}}`),

		// Bodies that end too soon.
		{name: "a length that is not reached", head: js, body: aThing, cut: 5},
		{name: "a chunk that is cut", head: js, body: aThing, cut: 5, chunked: true},
		to("GET /plain/1", answerCase{name: "a length that is not reached, of which nothing is declared", head: js, body: aThing, cut: 5}),
		get("JSON that is cut", js, aThing[:15]).failed(502, notRead),
		get("half of what is compressed", js+"\nContent-Encoding: gzip", zipped(t, aThing)[:20]).failed(502, notRead),
		to("GET /things", answerCase{name: "a long list that is cut", head: js, body: `{"total":9,"list":[` + strings.Repeat(`{"id":1,"n":"`+strings.Repeat("x", 9000)+`"},`, 19), status: gone}),

		// Nothing.
		{name: "204", head: "204 No Content", status: 204},
		get("an empty body", js, "").failed(502, notRead),
		get("an empty body in HTML", html, "").failed(502, notRead),
		to("PATCH /things/1", answerCase{name: "nothing after a change", head: html, body: "", status: 204}),
		to("DELETE /things/1", answerCase{name: "nothing after a deletion", head: js, body: "", status: 204}),
		to("DELETE /things/1", answerCase{name: "a word after a deletion", head: js, body: `{"ok":true}`, status: 204}),

		// Compression that nobody asked for.
		thing("gzip", js+"\nContent-Encoding: gzip", zipped(t, aThing)),
		get("labelled gzip, and is not", js+"\nContent-Encoding: gzip", aThing).failed(502, notRead),
		get("brotli", js+"\nContent-Encoding: br", "\x0b\x02\x80{}\x03").failed(502, notRead),

		// Redirects.
		{name: "a redirect to a resource", head: "302 Found\nLocation: /t/2\nContent-Location: http://10.0.0.7/t/1\nContent-Type: text/html", body: "moved to /t/2?key=x", status: 302, header: "Location: /things/2"},
		get("a redirect to a page to sign in at", "302 Found\nLocation: /login.php", "").failed(502, notRead),
		get("a redirect to another host", "302 Found\nLocation: https://sso.example/login", "").failed(502, notRead),
		get("a page that leads elsewhere", html+"\nRefresh: 0; url=https://sso.example/", aPage).failed(502, notRead),
		to("POST /things", answerCase{name: "a redirect to what was made", head: "303 See Other\nLocation: /t/7", status: 303, header: "Location: /things/7"}),

		to("POST /made", answerCase{name: "a redirect to what was made, where that is declared", head: "303 See Other\nLocation: /m/7", status: 201, header: "Location: /made/7"}),

		// Header fields.
		{name: "fields that end here", head: js + "\nSet-Cookie: PHPSESSID=1; path=/\nX-Powered-By: PHP/5.6\nServer: Apache\nX-Debug: 10.0.0.7\nAccess-Control-Allow-Origin: *\nAllow: GET\nP3P: x", body: aThing,
			status: 200, media: "application/json", want: ours},
		{name: "fields that leave", head: js + "\nCache-Control: max-age=60\nRetry-After: 1\nX-Named: y\nContent-Language: de\nETag: \"upstream\"\nLast-Modified: Mon, 02 Jan 2006 15:04:05 GMT", body: aThing,
			status: 200, media: "application/json", want: ours, header: "Cache-Control: max-age=60\nContent-Language: de\nLast-Modified: Mon, 02 Jan 2006 15:04:05 GMT\nRetry-After: 1\nX-Named: y"},
	}
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, corpus)
	for _, c := range cases {
		if c.cut > 0 && c.status == 0 {
			c = c.failed(502, cutOff)
		}
		t.Run(c.name, func(t *testing.T) {
			u.Answer(c.write)
			method, path, _ := strings.Cut(c.request, " ")
			if c.request == "" {
				method, path = http.MethodGet, "/things/1"
			}
			c.compare(t, r, method, path)
		})
	}
}

// write is the upstream's handler: it sends the answer byte by byte as it stands.
func (c answerCase) write(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the client hears nothing, and the test fails
	}
	defer conn.Close()
	head := "HTTP/1.1 " + strings.ReplaceAll(c.head, "\n", "\r\n") + "\r\nConnection: close\r\n"
	sent := c.body[:len(c.body)-c.cut]
	switch {
	case strings.HasPrefix(c.head, "204"):
		_, _ = io.WriteString(conn, head+"\r\n")
	case c.chunked:
		_, _ = io.WriteString(conn, head+"Transfer-Encoding: chunked\r\n\r\n"+strconv.FormatInt(int64(len(c.body)), 16)+"\r\n"+sent)
	default:
		_, _ = io.WriteString(conn, head+"Content-Length: "+strconv.Itoa(len(c.body))+"\r\n\r\n"+sent)
	}
}

// compare sends the request, and compares all that the client gets.
func (c answerCase) compare(t *testing.T, r *rig, method, path string) {
	t.Helper()
	var body io.Reader = http.NoBody
	if method == http.MethodPost || method == http.MethodPatch {
		body = strings.NewReader(`{"name":"x"}`)
	}
	req, err := http.NewRequest(method, r.API+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token("writer"))
	if body != http.NoBody {
		req.Header.Set("Content-Type", "application/json")
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		if c.status != gone {
			t.Fatal(err)
		}
		return
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if c.status == gone {
		if err == nil {
			t.Errorf("the connection did not end: %d %.200q", res.StatusCode, got)
		}
		return
	}
	if err != nil || res.StatusCode != c.status || string(got) != c.want || res.Header.Get("Content-Type") != c.media {
		t.Errorf("%v: %d %s %q\nwant %d %s %q", err, res.StatusCode, res.Header.Get("Content-Type"), got, c.status, c.media, c.want)
	}
	var others []string
	for name, values := range res.Header {
		if !slices.Contains([]string{"Content-Type", "Content-Length", "Date", "Via", "Vary"}, name) {
			others = append(others, name+": "+strings.Join(values, ", "))
		}
	}
	if vary := res.Header["Vary"]; len(vary) != 1 || !strings.Contains(vary[0], "Authorization") {
		t.Errorf("Vary %q", vary)
	}
	slices.Sort(others)
	if have := strings.Join(others, "\n"); have != c.header {
		t.Errorf("header\n%s\nwant\n%s", have, c.header)
	}
}
