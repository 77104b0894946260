package restapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const byXMLRPC = `api_rest {
		to ADDR
		resource articles {
			upstream GET /articles /RPC2 xmlrpc article.list [{query.start|int},{query.count|int}]
			upstream GET /articles/{id} /RPC2 xmlrpc article.get [{id|int}]
			upstream POST /articles /RPC2 xmlrpc article.add [{body}]
			upstream DELETE /articles/{id} /RPC2 xmlrpc article.delete [{id}]
			list {
				send page offset start
				send limit count
			}
			id /aid
			created 201 /result
			rename id=aid title=subject
			fail_when /error/code == 17 status 404
		}
	}`

// R14: an API that speaks XML-RPC.
func TestXMLRPCUpstream(t *testing.T) {
	media, status, answer := "", 200, ""
	u := newRecorded(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	})
	g := harness.Prepare(t)
	g.Start(t, strings.Replace(site, "respond API_REST", strings.Replace(byXMLRPC, "ADDR", u.Addr, 1), 1))
	r := &rig{g, t, make(map[string]string)}
	const (
		head    = `<?xml version="1.0" encoding="ISO-8859-1"?>`
		article = "<value><struct><member><name>aid</name><value><int>7</int></value></member><member><name>subject</name><value>M\xfcller</value></member></struct></value>"
	)
	returns := func(value string) string {
		return head + "<methodResponse><params><param>" + value + "</param></params></methodResponse>"
	}
	fails := func(code string) string {
		return head + "<methodResponse><fault><value><struct><member><name>faultCode</name><value><int>" + code +
			"</int></value></member><member><name>faultString</name><value>No such thing</value></member></struct></value></fault></methodResponse>"
	}
	call := func(method, params string) string {
		return `<?xml version="1.0"?><methodCall><methodName>` + method + `</methodName><params>` + params + `</params></methodCall>`
	}
	const seven = `<param><value><int>7</int></value></param>`
	for _, c := range []struct {
		name, method, path, body string
		call, media              string
		http                     int
		answer                   string
		status                   int
		want                     string
	}{
		{"an item", "GET", "/articles/7", "", call("article.get", seven), "text/xml", 200, returns(article), 200, `{"id":7,"title":"Müller"}`},
		{"a list", "GET", "/articles?page=2&limit=1", "", call("article.list", `<param><value><int>1</int></value></param><param><value><int>1</int></value></param>`),
			"text/xml", 200, returns("<value><array><data>" + article + "</data></array></value>"), 200,
			`{"data":[{"id":7,"title":"Müller"}],"pagination":{"total":null,"page":2,"limit":1,"total_pages":null}}`},
		{"a creation", "POST", "/articles", `{"title":"A <b>","n":[1.5,true]}`,
			call("article.add", `<param><value><struct><member><name>subject</name><value><string>A &#60;b&#62;</string></value></member><member><name>n</name><value><array><data><value><double>1.5</double></value><value><boolean>1</boolean></value></data></array></value></member></struct></value></param>`),
			"application/xml", 200, returns("<value><i4>8</i4></value>"), 201, `{"result":8}`},
		{"a deletion", "DELETE", "/articles/7", "", call("article.delete", `<param><value><string>7</string></value></param>`), "text/xml", 200, returns("<value><boolean>1</boolean></value>"), 204, ``},
		{"a fault", "GET", "/articles/7", "", call("article.get", seven), "text/xml", 200, fails("12"), 422, `{"error":{"code":"validation_failed","message":"No such thing","field":null}}`},
		{"a fault with a rule", "GET", "/articles/7", "", call("article.get", seven), "text/xml", 500, fails("17"), 404, `{"error":{"code":"not_found","message":"No such thing","field":null}}`},
		{"a fault with its code in quotes", "GET", "/articles/7", "", call("article.get", seven), "text/xml", 200, strings.Replace(strings.Replace(fails("17"), "<int>", "<string>", 1), "</int>", "</string>", 1), 404, `{"error":{"code":"not_found","message":"No such thing","field":null}}`},
		{"types of all kinds", "GET", "/articles/7", "", call("article.get", seven), "text/xml", 200, returns("<value><struct><member><name>a</name><value><i8>9223372036854775807</i8></value></member><member><name>b</name><value><double>0.10</double></value></member><member><name>c</name><value><nil/></value></member>" +
			"<member><name>d</name><value><base64>eW91\nIGNhbg==</base64></value></member><member><name>e</name><value><dateTime.iso8601>19980717T14:08:55</dateTime.iso8601></value></member></struct></value>"), 200,
			`{"a":9223372036854775807,"b":0.10,"c":null,"d":"eW91IGNhbg==","e":"19980717T14:08:55"}`},
		{"a number that is too large", "GET", "/articles/7", "", call("article.get", seven), "text/xml", 200, returns("<value><i8>9223372036854775808</i8></value>"), 502, notRead},
		{"an unknown type", "GET", "/articles/7", "", call("article.get", seven), "text/xml", 200, returns("<value><money>5</money></value>"), 502, notRead},
		{"an answer that is cut off", "GET", "/articles/7", "", call("article.get", seven), "text/xml", 200, returns(article)[:200], 502, notRead},
		{"an entity", "GET", "/articles/7", "", call("article.get", seven), "text/xml", 200, `<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>` + returns("<value>&x;</value>")[len(head):], 502, notRead},
		{"a page", "GET", "/articles/7", "", call("article.get", seven), "text/html", 200, `<html/>`, 502, notRead},
		{"JSON", "GET", "/articles/7", "", call("article.get", seven), "application/json", 200, `{"result":{},"id":1}`, 502, notRead},
	} {
		t.Run(c.name, func(t *testing.T) {
			media, status, answer = c.media, c.http, c.answer
			p := r.do("writer", c.method, c.path, c.body)
			hit, sent := u.last(t)
			if hit.Method != "POST" || hit.URL.Path != "/RPC2" || sent != c.call || hit.Header.Get("Content-Type") != "text/xml" {
				t.Errorf("%s %s %v %s", hit.Method, hit.URL, hit.Header, sent)
			}
			if p.Status != c.status || p.Body != c.want {
				t.Errorf("%d %v %s, want %s", p.Status, p.Header, p.Body, c.want)
			}
			if c.status == 201 && p.Header.Get("Location") != "/articles/8" {
				t.Errorf("%v", p.Header)
			}
		})
	}
	wantError(t, r.do("writer", "POST", "/articles", `{"x":"\u0001"}`), 400, "bad_request", "")
	// A megabyte of such numbers would become sixty.
	wantError(t, r.do("writer", "POST", "/articles", `{"n":[1e308`+strings.Repeat(",1e308", 8000)+`]}`), 413, "payload_too_large", "")
}
