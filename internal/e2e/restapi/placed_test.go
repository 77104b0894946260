package restapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// placedWords are resources of an API that takes ids in the bodies of its requests.
const placedWords = `
	openapi
	resource torrents {
		upstream DELETE /torrents/{hash} POST /api/v2/torrents/delete as form hashes={hash} deleteFiles=false
		upstream PATCH /torrents/{hash} POST /api/v2/torrents/set as form hash={hash} override
		upstream PUT /torrents/{hash} POST /api/v2/torrents/{hash}/set as multipart hash={hash} /f/id={hash}
		upstream POST /torrents /api/v2/torrents/add as form kind=torrent
		upstream POST /torrents/{hash}/pause /api/v2/torrents/pause as form hashes[]={hash}
		rename id=hash
		idempotency
		batch name
		deleted 204
	}
	resource tasks {
		upstream DELETE /tasks/{id:.+} POST /rpc as json method=task-remove /arguments/ids=[{id}] /arguments/delete=false
		upstream PATCH /tasks/{id:.+} POST /rpc?id={id} as json id={id} note=task:{id}
		upstream POST /tasks/{id:.+}/moves POST /rpc as json id={id}
		wrap fields
		send fixed body token=sesame
	}
	resource calls {
		upstream POST /calls POST /rpc as json method=call-add /arguments/paused=true
		upstream PATCH /calls/{id} POST /rpc as json /arguments/ids=[{id|int}] method=call-set /arguments/by/user={id}
		upstream DELETE /calls/{id} POST /rpc as json method=call-remove /arguments/ids=[{id|int}]
		upstream POST /calls/{id}/moves POST /move as form kind=x /arguments/id={id}
		wrap arguments
		rename limit=downloadLimit number=ids
		send fixed body token=sesame
	}
	resource numbers {
		upstream DELETE /numbers/{id} POST /rpc as form id={id|int}
		upstream PATCH /numbers/{id} POST /rpc as json id={id|int}
	}
	resource umlauts {
		charset iso-8859-1
		upstream DELETE /umlauts/{id:.+} POST /u as form id={id} art=Größe
		upstream PATCH /umlauts/{id:.+} POST /u as json id={id} art=Größe
	}
	job torrents {
		upstream POST /api/v2/torrents/slow
		when preferred
	}
`

// startPlaced starts a gateway in front of an API that is written to.
func startPlaced(t *testing.T, answer http.HandlerFunc, words string) (*rig, *recorded) {
	t.Helper()
	u := newRecorded(t, answer)
	g := harness.Prepare(t)
	g.Start(t, worded("to "+u.Addr+"\n"+words))
	return &rig{g, t, make(map[string]string)}, u
}

// R11: ids and constants in the body of the API's request: in JSON behind what the client sends, in forms in front.
func TestGatewayPlacesMembersInBodies(t *testing.T) {
	r, u := startPlaced(t, says("application/json", `{"hash":"abc","ok":1}`), placedWords)
	for _, c := range []struct{ name, method, path, body, at, sent string }{
		{"a deletion by a form", "DELETE", "/torrents/abc", "", "/api/v2/torrents/delete", "hashes=abc&deleteFiles=false"},
		{"a deletion with members of the client's", "DELETE", "/torrents/abc", `{"why":"a&b"}`, "/api/v2/torrents/delete", "hashes=abc&deleteFiles=false&why=a%26b"},
		{"a change", "PATCH", "/torrents/abc", `{"name":"x=1&hash=2"}`, "/api/v2/torrents/set", "hash=abc&name=x%3D1%26hash%3D2"},
		{"a creation", "POST", "/torrents", `{"name":"x"}`, "/api/v2/torrents/add", "kind=torrent&name=x"},
		{"an action without a body", "POST", "/torrents/a~b/pause", "", "/api/v2/torrents/pause", "hashes%5B%5D=a~b"},
		{"an action with a body", "POST", "/torrents/ab/pause", `{"n":1}`, "/api/v2/torrents/pause", "hashes%5B%5D=ab&n=1"},
		{"a batch", "PATCH", "/torrents", `[{"id":"b:c","op":"replace","path":"/name","value":"x"}]`, "/api/v2/torrents/set", "hash=b%3Ac&name=x"},
		{"a deletion by JSON", "DELETE", "/tasks/7", "", "/rpc", `{"token":"sesame","method":"task-remove","arguments":{"ids":["7"],"delete":false}}`},
		{"an id that is no plain text", "DELETE", "/tasks/%22%5D,%22ids%22:[%22&=%25%C3%A4", "", "/rpc", `{"token":"sesame","method":"task-remove","arguments":{"ids":["\"],\"ids\":[\"&=%ä"],"delete":false}}`},
		{"JSON with a wrapped body", "PATCH", "/tasks/7", `{"n":1}`, "/rpc?id=7", `{"token":"sesame","fields":{"n":1},"id":"7","note":"task:7"}`},
		{"JSON from an action without a body", "POST", "/tasks/7/moves", ``, "/rpc", `{"token":"sesame","id":"7"}`},
		{"a change below wrap", "PATCH", "/calls/7", `{"limit":{"n":1}}`, "/rpc", `{"token":"sesame","arguments":{"downloadLimit":{"n":1},"ids":[7],"by":{"user":"7"}},"method":"call-set"}`},
		{"a change below wrap by nobody", "PATCH", "/calls/7", `{}`, "/rpc", `{"token":"sesame","arguments":{"ids":[7],"by":{"user":"7"}},"method":"call-set"}`},
		{"a creation below wrap", "POST", "/calls", `{"limit":1}`, "/rpc", `{"token":"sesame","arguments":{"downloadLimit":1,"paused":true},"method":"call-add"}`},
		{"a deletion below wrap", "DELETE", "/calls/7", "", "/rpc", `{"token":"sesame","method":"call-remove","arguments":{"ids":[7]}}`},
		{"a deletion below wrap with a body", "DELETE", "/calls/7", `{"n":1}`, "/rpc", `{"token":"sesame","arguments":{"n":1,"ids":[7]},"method":"call-remove"}`},
		{"a form below wrap", "POST", "/calls/7/moves", `{"limit":[1,2]}`, "/move", `token=sesame&kind=x&arguments%5Bid%5D=7&arguments%5BdownloadLimit%5D%5B%5D=1&arguments%5BdownloadLimit%5D%5B%5D=2`},
		{"a batch below wrap", "PATCH", "/calls", `[{"id":7,"op":"replace","path":"/limit","value":2}]`, "/rpc", `{"token":"sesame","arguments":{"downloadLimit":2,"ids":[7],"by":{"user":"7"}},"method":"call-set"}`},
		{"a number", "DELETE", "/numbers/12", "", "/rpc", "id=12"},
		{"a form in Latin-1", "DELETE", "/umlauts/%C3%A4%26", "", "/u", "id=%E4%26&art=Gr%F6%DFe"},
		{"JSON in Latin-1", "PATCH", "/umlauts/%C3%A4%22", `{"a":"ü"}`, "/u", `{"a":"\u00fc","id":"\u00e4\"","art":"Gr\u00f6\u00dfe"}`},
	} {
		t.Run("R11 "+c.name, func(t *testing.T) {
			p := r.do("writer", c.method, c.path, c.body)
			hit, body := u.last(t)
			if p.Status > 299 || hit.Method != "POST" || hit.RequestURI != c.at || body != c.sent || hit.ContentLength != int64(len(body)) {
				t.Errorf("%d %s, %s %s %s, want %s", p.Status, p.Body, hit.Method, hit.RequestURI, body, c.sent)
			}
		})
	}
	r.do("writer", "PUT", "/torrents/abc", `{"n":1}`)
	hit, body := u.last(t)
	if hit.RequestURI != "/api/v2/torrents/abc/set" || strings.Count(body, "form-data; name=") != 3 || !strings.Contains(body, "name=\"hash\"\r\n\r\nabc\r\n") || !strings.Contains(body, "name=\"f[id]\"\r\n\r\nabc\r\n") {
		t.Errorf("R11 a multipart form: %s %s", hit.RequestURI, body)
	}
	wantError(t, r.do("writer", "PATCH", "/numbers", `[{"id":1,"op":"replace","path":"/a","value":1},{"id":"x","op":"replace","path":"/a","value":1}]`), 400, "invalid_parameter", "/1/id")
	for _, path := range []string{"/numbers/x", "/umlauts/%E4%BD%A0", "/torrents/a%7Cb", "/torrents/a&b"} {
		if p := r.do("writer", "DELETE", path, ""); p.Status != 404 || len(u.Hits()) > 0 {
			t.Errorf("R11 %s: %d %s", path, p.Status, p.Body)
		}
	}
	t.Run("R11 an Idempotency-Key", func(t *testing.T) {
		for i, name := range []string{"x", "x", "y"} {
			p := r.do("writer", "POST", "/torrents", `{"name":"`+name+`"}`, "Idempotency-Key", "k1")
			if hits := len(u.Hits()); p.Status != []int{201, 201, 422}[i] || hits != []int{1, 0, 0}[i] {
				t.Errorf("%d: %d %s, %d requests", i, p.Status, p.Body, hits)
			}
		}
		u.bodies = nil
	})
	t.Run("R11 a job", func(t *testing.T) {
		p := r.do("writer", "POST", "/torrents", `{"name":"x"}`, "Prefer", "respond-async, wait=30")
		hit, body := u.last(t)
		if p.Status != 200 || hit.RequestURI != "/api/v2/torrents/slow" || body != "kind=torrent&name=x" {
			t.Errorf("%d %s, %s %s", p.Status, p.Body, hit.RequestURI, body)
		}
		wantError(t, r.do("writer", "POST", "/torrents", `{"Kind":"x"}`, "Prefer", "respond-async"), 400, "invalid_parameter", "Kind")
	})
	t.Run("R11 the document", func(t *testing.T) {
		p := r.do("reader", "GET", "/openapi.json", "")
		for _, own := range []string{"hashes", "deleteFiles", "task-remove", "arguments", "kind"} {
			if strings.Contains(p.Body, `"`+own) {
				t.Errorf("the document has %s", own)
			}
		}
		// What answers call id is hash in bodies, which PATCH (of two media types) and PUT place, and POST does not.
		// Likewise number, which is ids in bodies, is placed below wrap by PATCH and by DELETE alone.
		for name, want := range map[string]int{"id": 3, "number": 2} {
			if n := strings.Count(p.Body, `"propertyNames":{"not":{"enum":["`+name+`"]}}`); n != want {
				t.Errorf("%d operations refuse %s: %s", n, name, p.Body)
			}
		}
	})
}

// R11: no client sends a member that the gateway places, under whatever name.
func TestClientCannotSendAPlacedMember(t *testing.T) {
	r, u := startPlaced(t, says("application/json", `{"hash":"abc"}`), placedWords)
	for _, name := range []string{"hashes", "Hashes", "HASHES", "hashes[]", "hashes[0]", " hashes", "hashes ", "[hashes]", "_hashes", "hashes.", "deleteFiles", "deletefiles", "DELETEFILES[x]"} {
		wantError(t, r.do("writer", "DELETE", "/torrents/abc", fmt.Sprintf(`{%q:"all"}`, name)), 400, "invalid_parameter", name)
		wantError(t, r.do("writer", "DELETE", "/torrents/abc?"+url.QueryEscape(name)+"=all", ""), 400, "invalid_parameter", name)
	}
	for _, c := range []struct{ method, path, body, field string }{
		{"DELETE", "/torrents/abc", `{"\u0068ashes":"all"}`, "hashes"},
		{"DELETE", "/torrents/abc", `{" ":{"hashes":"all"}}`, " "},
		{"DELETE", "/torrents/abc", `{"_":[{"hashes":"all"}]}`, "_"},
		{"DELETE", "/torrents/abc", `{"hashes":"x","hashes":"all"}`, "hashes"},
		{"PATCH", "/torrents/abc", `{"id":"all"}`, "id"}, // renamed to hash
		{"PATCH", "/torrents/abc", `{"id":"abc"}`, "id"},
		{"PATCH", "/torrents/abc", `{"hash":"all"}`, "hash"},
		{"PUT", "/torrents/abc", `{"f":{"id":"all"}}`, "f"},
		{"PUT", "/torrents/abc", `{"f[id]":"all"}`, "f[id]"},
		{"POST", "/torrents", `{"kind":"x"}`, "kind"},
		{"POST", "/torrents/abc/pause", `{"hashes":["all"]}`, "hashes"},
		{"PATCH", "/tasks/7", `{"id":8}`, "id"},
		{"PATCH", "/tasks/7", `{"Note":8}`, "Note"},
		{"PATCH", "/tasks/7", `{"token":8}`, "token"},
		{"PATCH", "/torrents", `[{"id":"a","op":"replace","path":"/hash","value":"all"}]`, "/0/path"},
		{"PATCH", "/calls/7", `{"ids":[8]}`, "ids"}, // in arguments, beside what is placed there
		{"PATCH", "/calls/7", `{"number":[8]}`, "number"},
		{"PATCH", "/calls/7", `{"IDs":8}`, "IDs"},
		{"PATCH", "/calls/7", `{"ids[]":8}`, "ids[]"},
		{"PATCH", "/calls/7", `{"_":{"ids":8}}`, "_"},
		{"PATCH", "/calls/7", `{"by":{"user":8}}`, "by"},
		{"PATCH", "/calls/7", `{"method":"call-remove"}`, "method"},
		{"PATCH", "/calls/7", `{"arguments":{"ids":[8]}}`, "arguments"},
		{"PATCH", "/calls/7?ids=8", `{}`, "ids"},
		{"PATCH", "/calls", `[{"id":7,"op":"replace","path":"/number","value":8}]`, "/0/value"},
		{"POST", "/calls", `{"paused":false}`, "paused"},
		{"POST", "/calls/7/moves", `{"id":8}`, "id"},
		{"DELETE", "/calls/7", `{"ids":[8]}`, "ids"},
	} {
		wantError(t, r.do("writer", c.method, c.path, c.body), 400, "invalid_parameter", c.field)
	}
	if p := r.do("writer", "PATCH", "/calls/7", `{"number":8}`); !strings.Contains(p.Body, `"number must not be there`) {
		t.Errorf("R11 a refusal in the API's words: %s", p.Body)
	}
	wantError(t, r.do("writer", "DELETE", "/torrents/abc", `{"":{"hashes":"all"}}`), 400, "bad_request", "") // which Rack reads as hashes
	if p := r.do("writer", "DELETE", "/torrents/abc", "hashes=all", "Content-Type", "application/x-www-form-urlencoded"); p.Status != 415 {
		t.Errorf("R11 a form of the client's: %d %s", p.Status, p.Body)
	}
	if n := len(u.Hits()); n > 0 {
		t.Errorf("R11 %d requests reached the API", n)
	}
}

// readsWords are reads that an API takes by POST.
const readsWords = `
	resource things {
		upstream GET /things POST /search as json index=things /page/from={query.start|int} /page/tags=[1,"a"]
		upstream GET /things/{id:.+} POST /get as json id={id} lang={query.hl}
		upstream PATCH /things/{id:.+} POST /set as json id={id}
		list {
			send page offset start
			send limit count
			sort name
			filter q=text
			items /hits
			total /total
		}
		query lang=hl
		item /hit
		etag
		links self
		send fixed body token=sesame
	}
	resource posts {
		upstream GET /posts POST /posts/query?a=list as form own=yes
		upstream GET /posts/{id} POST /posts/get as form id={id} override
		list {
			filter cat=filter[cat]
			cursor next /next
			items /hits
		}
	}
	resource wholes {
		upstream GET /wholes POST /wholes as form
		list {
			cursor next /next
			items /hits
			paginate local
		}
	}
	resource plains {
		upstream GET /plains/{id} POST /plain as form id={id}
	}
	resource umlauts {
		charset iso-8859-1
		upstream GET /umlauts POST /umlauts as form art=Größe
		list {
			filter q
			items /hits
		}
	}
`

// R11: lists and items that an API gives for a POST.
func TestUpstreamCanBeReadByPost(t *testing.T) {
	answer := `{"hits":[{"id":7}],"total":57}`
	status := 200
	r, u := startPlaced(t, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("ETag", `"of-the-address"`)
		w.Header().Set("Content-Type", "application/json")
		if q.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		if status == 201 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}, readsWords)
	for _, c := range []struct{ name, path, at, media, sent string }{
		{"a list by JSON", "/things?page=3&limit=10&sort=-name&q=" + url.QueryEscape(`"},{`), "/search", "application/json",
			`{"token":"sesame","index":"things","page":{"from":20,"tags":[1,"a"]},"count":10,"sort":"-name","text":"\"},{"}`},
		{"a list as it is", "/things", "/search", "application/json", `{"token":"sesame","index":"things","page":{"from":0,"tags":[1,"a"]},"count":20}`},
		{"a list by a form", "/posts?cat=a%26b", "/posts/query?a=list", "application/x-www-form-urlencoded", `own=yes&filter%5Bcat%5D=a%26b&limit=20`},
		{"a list in Latin-1", "/umlauts?q=%C3%A4", "/umlauts", "application/x-www-form-urlencoded", `art=Gr%F6%DFe&limit=20&page=1&q=%E4`},
	} {
		t.Run("R11 "+c.name, func(t *testing.T) {
			for _, method := range []string{"GET", "HEAD"} {
				p := r.do("reader", method, c.path, "")
				hit, body := u.last(t)
				if p.Status != 200 || method == "GET" != strings.HasPrefix(p.Body, `{"data":[{"id":7`) || hit.Method != "POST" || hit.RequestURI != c.at || body != c.sent || hit.Header.Get("Content-Type") != c.media {
					t.Errorf("%s: %d %s, %s %s %s %v, want %s", method, p.Status, p.Body, hit.Method, hit.RequestURI, body, hit.Header, c.sent)
				}
			}
		})
	}
	for path, field := range map[string]string{"/things?start=1": "start", "/things?index=x": "index", "/things?page=x": "page", "/posts?own=no": "own", "/posts?page=2": "page", "/posts/7?id=8": "id", "/things/7?hl=de": "hl"} {
		wantError(t, r.do("reader", "GET", path, ""), 400, "invalid_parameter", field)
	}
	if p := r.do("reader", "GET", "/umlauts?q=%E4%BD%A0", ""); p.Status != 422 || len(u.Hits()) > 0 {
		t.Errorf("R11 a filter that Latin-1 does not have: %d %s", p.Status, p.Body)
	}
	u.Hits()
	t.Run("R11 a list is refused what it is not asked for", func(t *testing.T) {
		wantError(t, r.do("reader", "GET", "/things", `{"index":"x"}`), 400, "bad_request", "")
		if hits := u.Hits(); len(hits) > 0 {
			t.Errorf("%d requests with a body of the client's", len(hits))
		}
	})
	answer = `{"hit":{"id":"a\"","n":1},"id":"x"}`
	t.Run("R11 an item, its tag and the read before a change", func(t *testing.T) {
		p := r.do("reader", "GET", "/things/a%22?lang=de", "")
		hit, body := u.last(t)
		tag := p.Header.Get("Etag")
		if p.Status != 200 || !strings.HasPrefix(p.Body, `{"id":"a\"","n":1,`) || hit.RequestURI != "/get" || body != `{"token":"sesame","id":"a\"","lang":"de"}` || tag == "" || strings.Contains(tag, "of-the-address") {
			t.Errorf("%d %s %v, %s %s", p.Status, p.Body, p.Header, hit.RequestURI, body)
		}
		p = r.do("reader", "GET", "/things/a%22", "", "If-None-Match", tag)
		if hit, _ := u.last(t); p.Status != 304 || hit.Header.Get("If-None-Match") != "" {
			t.Errorf("If-None-Match: %d %v", p.Status, hit.Header)
		}
		p = r.do("writer", "PATCH", "/things/a%22", `{"n":2}`, "If-Match", tag)
		hits, bodies := u.Hits(), u.bodies
		u.bodies = nil
		if p.Status != 200 || len(hits) != 2 || hits[0].RequestURI != "/get" || hits[0].Header.Get("Content-Type") != "application/json" || bodies[0] != `{"token":"sesame","id":"a\""}` ||
			hits[1].RequestURI != "/set" || hits[1].Header.Get("If-Match") != "" {
			t.Errorf("If-Match: %d %s, %v", p.Status, p.Body, bodies)
		}
		p = r.do("writer", "PATCH", "/things/a%22", `{"n":2}`, "If-Match", `"other"`)
		if hits := u.Hits(); p.Status != 412 || len(hits) != 1 || hits[0].RequestURI != "/get" {
			t.Errorf("another If-Match: %d %s, %d requests", p.Status, p.Body, len(hits))
		}
		u.bodies = nil
	})
	t.Run("R11 what passes untranslated", func(t *testing.T) {
		p := r.do("reader", "GET", "/plains/7", "", "If-None-Match", `"of-the-address"`, "If-Match", `"x"`, "Range", "bytes=0-1")
		hit, body := u.last(t)
		if p.Status != 200 || p.Body != answer || p.Header.Get("Etag") != "" || body != "id=7" || hit.Header.Get("If-Match")+hit.Header.Get("Range") != "" {
			t.Errorf("%d %s, %s %v", p.Status, p.Body, body, hit.Header)
		}
	})
	t.Run("R11 the client's method besides", func(t *testing.T) {
		r.do("reader", "GET", "/posts/7", "")
		if hit, body := u.last(t); body != "id=7" || hit.Header.Get("X-Http-Method-Override") != "GET" {
			t.Errorf("%s %v", body, hit.Header)
		}
	})
	t.Run("R11 an API that answers every POST with 201", func(t *testing.T) {
		status = 201
		defer func() { status = 200 }()
		for _, path := range []string{"/things/7", "/plains/7"} {
			p := r.do("reader", "GET", path, "")
			if p.Status != 200 || p.Header.Get("Location") != "" || p.Header.Get("Etag") == "" && path == "/things/7" {
				t.Errorf("%d %v", p.Status, p.Header)
			}
			u.last(t)
		}
	})
}

// R11: cursors, the client's and those that are followed, travel in the body too.
func TestCursorsWorkForPostLists(t *testing.T) {
	r, u := startPlaced(t, func(w http.ResponseWriter, q *http.Request) {}, readsWords)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		at := q.PostFormValue("next")
		next := map[string]string{"": `"2"`, "2": `"3&limit=9"`}[at]
		if next == "" {
			next = "null"
		}
		if q.URL.Query().Has("next") {
			t.Errorf("R11 a cursor in the address: %s", q.RequestURI)
		}
		_, _ = fmt.Fprintf(w, `{"hits":[{"id":"%s"}],"next":%s}`, url.QueryEscape(at), next)
	})
	p := r.do("reader", "GET", "/wholes?limit=2&page=2", "")
	if p.Status != 200 || p.Body != `{"data":[{"id":"3%26limit%3D9"}],"pagination":{"total":3,"page":2,"limit":2,"total_pages":2}}` || len(u.Hits()) != 3 {
		t.Errorf("R11 a list that is followed: %d %s", p.Status, p.Body)
	}
	path, ids := "/posts?limit=1", ""
	for range 5 {
		p := r.do("reader", "GET", path, "")
		var page struct {
			Data []struct{ ID string }
		}
		if json.Unmarshal([]byte(p.Body), &page) != nil || len(page.Data) != 1 {
			t.Fatalf("R11 %s: %d %s", path, p.Status, p.Body)
		}
		ids += " " + page.Data[0].ID
		if path = linked(p, "next"); path == "" {
			break
		}
	}
	if ids != "  2 3%26limit%3D9" {
		t.Errorf("R11 by cursor: %s", ids)
	}
}

// R11, R12: reads and deletions of an API with a session are repeated whole when that is over.
func TestPlacedMembersAreResentWithANewSession(t *testing.T) {
	api := new(sessions)
	u := harness.NewUpstream(t)
	u.Answer(api.ServeHTTP)
	g := harness.Prepare(t)
	g.Start(t, worded("to "+u.Addr+`
	login {
		POST /login
		keep cookie
		keep json /csrf as form csrf
	}
	send fixed body mode=safe
	resource things {
		upstream GET /things/{id} POST /get as json id={id}
		upstream GET /things POST /list as form kind=thing
		upstream DELETE /things/{id} POST /delete as form id={id} files=false
		list {
			filter q
			paginate local
		}
	}
`))
	r := &rig{g, t, make(map[string]string)}
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/things/7", "id=7"}, {"GET", "/things?q=x", "kind=thing&q=x"}, {"DELETE", "/things/7", "files=false&id=7"},
	} {
		for _, over := range []bool{false, true} {
			if over {
				api.expire()
			}
			if p := r.do("writer", c.method, c.path, ""); p.Status > 299 && c.path != "/things?q=x" { // that answer has no list
				t.Errorf("R11 R12 %s %s, session over: %t: %d %s", c.method, c.path, over, p.Status, p.Body)
			}
			sent, signIns := api.take()
			if len(sent) != 1 {
				t.Fatalf("R11 R12 %s %s: %d requests were carried out", c.method, c.path, len(sent))
			}
			want, _ := url.ParseQuery(c.want)
			want.Set("csrf", fmt.Sprint("csrf-", signIns))
			want.Set("mode", "safe")
			sent[0].Del(":path")
			if sent[0].Encode() != want.Encode() {
				t.Errorf("R11 R12 %s %s, session over: %t: %v, want %v", c.method, c.path, over, sent[0], want)
			}
		}
	}
}
