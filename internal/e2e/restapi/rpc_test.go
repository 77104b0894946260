package restapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const byRPC = "api_rest {\n" + `
		to ADDR
		openapi
		header_down *
		resource articles {
			upstream GET /articles /rpc rpc article.list {"start":{query.start|int},"count":{query.count|int},"state":{query.st}}
			upstream GET /articles/{id} /rpc?key=1 rpc article.get [{id|int}]
			upstream POST /articles /rpc rpc article.add [{body}]
			upstream PUT /articles/{id} /rpc rpc article.set [{id},{body.subject},{body.text}]
			upstream PATCH /articles/{id} /rpc rpc article.edit [{id},{"subject":{body.subject},"text":{body.text}}]
			upstream DELETE /articles/{id} /rpc rpc article.delete [{id}]
			list {
				send page offset start
				send limit count
				send state st
				state draft=0
				items /list
				total /total
			}
			item read /article
			id /aid
			created 201 /result
			rename id=aid title=subject
			fail_when read /error/code == 17 status 404
			fail_when delete /result == false status 404
		}
	}`

// quotes puts backticks for the Caddyfile around parameters that begin as a block would.
var quotes = strings.NewReplacer("article.list {", "article.list `{", "{query.st}}", "{query.st}}`",
	`article.edit [`, "article.edit `[", "{body.text}}]", "{body.text}}]`")

func overRPC(t *testing.T, addr string) *rig {
	g := harness.Prepare(t)
	g.Start(t, strings.Replace(site, "respond API_REST", strings.Replace(quotes.Replace(byRPC), "ADDR", addr, 1), 1))
	return &rig{g, t, make(map[string]string)}
}

// R14: an API that speaks JSON-RPC: what is called, and what becomes of results.
func TestJSONRPCUpstream(t *testing.T) {
	const article = `{"aid":12345678901234567890,"subject":"Maps"}`
	answer := ""
	u := newRecorded(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json-rpc")
		w.Header().Set("ETag", `"rpc"`)
		_, _ = fmt.Fprintf(w, "Notice: x\n{\"jsonrpc\":\"2.0\",\"result\":%s,\"id\":1}", answer)
	})
	r := overRPC(t, u.Addr)
	for _, c := range []struct {
		name, method, path, body string
		call, result             string
		status                   int
		want                     string
	}{
		{"a list", "GET", "/articles?page=3&limit=2&state=draft", "", `{"jsonrpc":"2.0","method":"article.list","params":{"start":4,"count":2,"state":"0"},"id":1}`,
			`{"total":"5","list":[` + article + `]}`, 200,
			`{"data":[{"id":12345678901234567890,"title":"Maps"}],"pagination":{"total":5,"page":3,"limit":2,"total_pages":3}}`},
		{"a list without a state", "GET", "/articles", "", `{"jsonrpc":"2.0","method":"article.list","params":{"start":0,"count":20},"id":1}`,
			`{"total":0,"list":[]}`, 200, `{"data":[],"pagination":{"total":0,"page":1,"limit":20,"total_pages":0}}`},
		{"an item", "GET", "/articles/7", "", `{"jsonrpc":"2.0","method":"article.get","params":[7],"id":1}`, `{"article":` + article + `}`, 200,
			`{"id":12345678901234567890,"title":"Maps"}`},
		{"no item", "GET", "/articles/7", "", `{"jsonrpc":"2.0","method":"article.get","params":[7],"id":1}`, `null`, 404,
			`{"error":{"code":"not_found","message":"there is nothing at this address","field":null}}`},
		{"a creation", "POST", "/articles", `{"title":"A\"],","n":[1.0]}`, `{"jsonrpc":"2.0","method":"article.add","params":[{"subject":"A\"],","n":[1.0]}],"id":1}`,
			`8`, 201, `{"result":8}`},
		{"a replacement", "PUT", "/articles/7", `{"title":"A"}`, `{"jsonrpc":"2.0","method":"article.set","params":["7","A",null],"id":1}`, `null`, 204, ``},
		{"a change", "PATCH", "/articles/7", `{"text":null}`, `{"jsonrpc":"2.0","method":"article.edit","params":["7",{"text":null}],"id":1}`, article, 200,
			`{"id":12345678901234567890,"title":"Maps"}`},
		{"a deletion", "DELETE", "/articles/7", "", `{"jsonrpc":"2.0","method":"article.delete","params":["7"],"id":1}`, `true`, 204, ``},
		{"a deletion of nothing", "DELETE", "/articles/7", "", `{"jsonrpc":"2.0","method":"article.delete","params":["7"],"id":1}`, `false`, 404,
			`{"error":{"code":"not_found","message":"there is nothing at this address","field":null}}`},
		{"a write that was not done", "PATCH", "/articles/7", `{"text":"x"}`, `{"jsonrpc":"2.0","method":"article.edit","params":["7",{"text":"x"}],"id":1}`, `false`, 422,
			`{"error":{"code":"validation_failed","message":"the content of the request is not valid","field":null}}`},
		{"a batch", "PATCH", "/articles", `[{"id":"7","op":"replace","path":"/title","value":"B"}]`,
			`{"jsonrpc":"2.0","method":"article.edit","params":["7",{"subject":"B"}],"id":1}`, `{"aid":7,"subject":"B"}`, 200,
			`{"data":[{"id":"7","status":200,"data":{"id":7,"title":"B"}}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer = c.result
			p := r.do("writer", c.method, c.path, c.body)
			hit, sent := u.last(t)
			if hit.Method != "POST" || hit.URL.Path != "/rpc" || sent != c.call || hit.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %s %v %s", hit.Method, hit.URL, hit.Header, sent)
			}
			if p.Status != c.status || strings.TrimSpace(p.Body) != c.want || p.Header.Get("Etag") != "" {
				t.Errorf("%d %v %s, want %s", p.Status, p.Header, p.Body, c.want)
			}
			if c.status == 201 && p.Header.Get("Location") != "/articles/8" {
				t.Errorf("%v", p.Header)
			}
		})
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		code, field        string
	}{
		{"GET", "/articles/7a", "", 404, "not_found", ""},
		{"GET", "/articles/7?lang=en", "", 400, "invalid_parameter", "lang"},
		{"PUT", "/articles/7", `{"title":"A","n":1}`, 400, "invalid_parameter", "n"},
		{"PUT", "/articles/7", `{"title":`, 400, "bad_request", ""},
		{"POST", "/articles", `{"subject":"A"}`, 400, "invalid_parameter", "subject"},
	} {
		wantError(t, r.do("writer", c.method, c.path, c.body), c.status, c.code, c.field)
	}
	if n := len(u.Hits()); n != 0 {
		t.Errorf("%d calls for requests that are refused", n)
	}
	if doc := r.do("reader", "GET", "/openapi.json", ""); strings.Contains(doc.Body, "rpc") || strings.Contains(doc.Body, "article.get") {
		t.Errorf("the description speaks of RPC: %s", doc.Body)
	}
}

// R14: faults of a JSON-RPC API have the one form, and what is no answer to a call is 502.
func TestJSONRPCFaults(t *testing.T) {
	u := harness.NewUpstream(t)
	r := overRPC(t, u.Addr)
	fault := func(code int, message string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","error":{"code":%d,"message":%q,"data":{"host":"10.0.0.7"}},"id":1}`, code, message)
	}
	const unreadable = "the service behind the gateway gave an answer that could not be read"
	for _, c := range []struct {
		name          string
		http          int
		media, answer string
		status        int
		code, message string
	}{
		{"of the application", 200, "application/json", fault(12, "Locked by Ann"), 422, "validation_failed", "Locked by Ann"},
		{"with a rule", 200, "application/json", fault(17, "No such article"), 404, "not_found", "No such article"},
		{"with a status", 500, "application/json", fault(17, "No such article"), 404, "not_found", "No such article"},
		{"of the protocol", 200, "application/json", fault(-32601, "No method article.get"), 502, "upstream_unreachable", ""},
		{"of the protocol with a status", 404, "application/json", fault(-32601, "No method article.get"), 502, "upstream_unreachable", ""},
		{"in our form", 200, "application/json", `{"error":{"code":"x","message":"m"},"id":1}`, 422, "validation_failed", "m"},
		{"with a word for its code", 200, "application/json", `{"error":{"code":"Locked","message":"m"},"id":1}`, 422, "validation_failed", "m"},
		{"with a rule and its code in quotes", 200, "application/json", `{"error":{"code":"17","message":"No such article"},"id":1}`, 404, "not_found", "No such article"},
		{"that is a text", 200, "application/json", `{"error":"Locked by Ann","id":1}`, 422, "validation_failed", "Locked by Ann"},
		{"that says nothing", 200, "application/json", `{"error":[],"id":1}`, 422, "validation_failed", ""},
		{"beside a result", 200, "application/json", `{"error":{"code":12,"message":"m"},"result":{"article":{"aid":8}},"id":1}`, 502, "upstream_error", unreadable},
		{"two ids", 200, "application/json", `{"id":1,"result":{"article":{"aid":8}},"id":2}`, 502, "upstream_error", unreadable},
		{"an id in quotes", 200, "application/json", `{"id":"1","result":{"article":{"aid":8}}}`, 502, "upstream_error", unreadable},
		{"a notification", 200, "application/json", `{"jsonrpc":"2.0","method":"article.changed","params":[7]}`, 502, "upstream_error", unreadable},
		{"too deep", 200, "application/json", `{"result":{"article":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `},"id":1}`, 502, "upstream_error", unreadable},
		{"not a number", 200, "application/json", `{"result":{"article":{"aid":NaN}},"id":1}`, 502, "upstream_error", unreadable},
		{"another charset than its label", 200, "application/json; charset=utf-8", "{\"result\":{\"article\":{\"aid\":\"M\xfcller\"}},\"id\":1}", 502, "upstream_error", unreadable},
		{"two answers", 200, "application/json", `{"result":{"article":{"aid":8}},"id":1}{"result":{},"id":1}`, 502, "upstream_error", unreadable},
		{"to no call", 200, "application/json", `{"jsonrpc":"2.0","error":{"code":12,"message":"Not you"},"id":null}`, 422, "validation_failed", "Not you"},
		{"another id", 200, "application/json", `{"jsonrpc":"2.0","result":{"article":{"aid":8}},"id":2}`, 502, "upstream_error", unreadable},
		{"no id", 200, "application/json", `{"jsonrpc":"2.0","result":{"article":{"aid":8}}}`, 502, "upstream_error", unreadable},
		{"neither result nor error", 200, "application/json", `{"jsonrpc":"2.0","id":1}`, 502, "upstream_error", unreadable},
		{"several answers", 200, "application/json", `[{"jsonrpc":"2.0","result":{},"id":1}]`, 502, "upstream_error", unreadable},
		{"cut short", 200, "application/json", `{"jsonrpc":"2.0","result":{"article":{"aid":8}},"id":1`, 502, "upstream_error", unreadable},
		{"a page", 200, "text/html", `<html><title>Sign in</title></html>`, 502, "upstream_error", unreadable},
		{"nothing", 200, "application/json", ``, 502, "upstream_error", unreadable},
		{"too much", 200, "application/json", `{"result":"` + strings.Repeat("x", 4<<20) + `","id":1}`, 502, "upstream_error", unreadable},
		{"a status alone", 503, "text/html", `<html><title>Busy</title></html>`, 503, "unavailable", ""},
		{"a page with a status", 404, "text/html", `<html><title>Nobody here</title></html>`, 404, "not_found", "Nobody here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u.Answer(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.media)
				w.WriteHeader(c.http)
				_, _ = w.Write([]byte(c.answer))
			})
			p := r.do("reader", "GET", "/articles/7", "")
			wantError(t, p, c.status, c.code, "")
			if c.message != "" && !strings.Contains(p.Body, c.message) || strings.Contains(p.Body, "10.0.0.7") || strings.Contains(p.Body, "gatehouse") || strings.Contains(p.Body, "article.get") {
				t.Errorf("%s", p.Body)
			}
		})
	}
}

// R14: what the gateway adds to a body stands beside the method of a call, and no client can send it.
func TestCallIncludesMembersPlacedByTheGateway(t *testing.T) {
	u := newRecorded(t, says("application/json", `{"result":{"id":7},"id":1}`))
	g := harness.Prepare(t)
	g.Start(t, strings.Replace(site, "respond API_REST", `api_rest {
		to `+u.Addr+`
		resource articles {
			upstream GET /articles/{id} /rpc rpc article.get [{id}]
			upstream POST /articles /rpc rpc article.add [{body}]
			send fixed body auth=secret-of-the-gateway
		}
	}`, 1))
	r := &rig{g, t, make(map[string]string)}
	if p := r.do("reader", "GET", "/articles/7", ""); p.Status != 200 || p.Body != `{"id":7}` {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if _, sent := u.last(t); sent != `{"auth":"secret-of-the-gateway","jsonrpc":"2.0","method":"article.get","params":["7"],"id":1}` {
		t.Errorf("%s", sent)
	}
	wantError(t, r.do("writer", "POST", "/articles", `{"auth":"x"}`), 400, "invalid_parameter", "auth")
}
