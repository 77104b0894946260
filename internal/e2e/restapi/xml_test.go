package restapi

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const inXML = `api_rest {
		to ADDR
		openapi
		resource articles {
			upstream GET /articles /a
			upstream GET /articles/{id} /a/{id}
			upstream POST /articles /a as xml article
			upstream DELETE /articles/{id} /a/{id}
			from xml response list articles/article articles/article/tag
			list {
				items /articles/article
				total /articles/@total
			}
			item /article
			id /@id
			rename id=@id title=subject
		}
	}`

// R14: XML both ways, for an API that speaks nothing else.
func TestXMLUpstream(t *testing.T) {
	u := harness.NewUpstream(t)
	g := harness.Prepare(t)
	g.Start(t, strings.Replace(site, "respond API_REST", strings.Replace(inXML, "ADDR", u.Addr, 1), 1))
	r := &rig{g, t, make(map[string]string)}
	const head = `<?xml version="1.0" encoding="ISO-8859-1"?>` + "\n"
	one := head + "<response><article id=\"7\"><subject>M\xfcller &amp; S\xf6hne</subject></article></response>"
	for _, c := range []struct {
		name, method, path, media, answer string
		status                            int
		want                              string
	}{
		{"an item", "GET", "/articles/7", "application/xml", one, 200, `{"id":"7","title":"Müller & Söhne"}`},
		{"a list", "GET", "/articles", "text/xml", `<response><articles total="3"><article id="1"><tag>a</tag></article></articles></response>`, 200,
			`{"data":[{"id":"1","tag":["a"]}],"pagination":{"total":3,"page":1,"limit":20,"total_pages":1}}`},
		{"an empty list", "GET", "/articles", "text/xml", `<response><articles total="0"/></response>`, 200,
			`{"data":[],"pagination":{"total":0,"page":1,"limit":20,"total_pages":0}}`},
		{"JSON all the same", "GET", "/articles/7", "application/json", `{"article":{"@id":"7"}}`, 200, `{"id":"7"}`},
		{"what was made", "POST", "/articles", "application/xml", one, 201, `{"id":"7","title":"Müller & Söhne"}`},
		{"what was deleted", "DELETE", "/articles/7", "application/xml", `<response/>`, 204, ``},
		{"another element", "GET", "/articles/7", "application/xml", `<error>10.0.0.7</error>`, 502, notRead},
		{"another element after a write", "POST", "/articles", "application/xml", `<error>10.0.0.7</error>`, 502, notRead},
		{"no item", "GET", "/articles/7", "application/xml", `<response/>`, 404, `{"error":{"code":"not_found","message":"there is nothing at this address","field":null}}`},
		{"no such item", "GET", "/articles/7", "application/xml", `<response><note>x</note></response>`, 502, notRead},
		{"cut short", "GET", "/articles/7", "application/xml", one[:90], 502, notRead},
		{"an entity", "GET", "/articles/7", "application/xml", `<!DOCTYPE response [<!ENTITY x SYSTEM "file:///etc/passwd">]><response><article>&x;</article></response>`, 502, notRead},
		{"too much", "GET", "/articles/7", "application/xml", "<response>" + strings.Repeat(" ", 1<<20) + "</response>", 502, notRead},
		{"Latin-1 that says nothing", "GET", "/articles/7", "application/xml", strings.TrimPrefix(one, head), 502, notRead},
	} {
		t.Run(c.name, func(t *testing.T) {
			u.Answer(says(c.media, c.answer))
			body := ""
			if c.method == "POST" {
				body = `{"title":"A <b> & \"ü\"","tag":["x","]]>"],"n":null}`
			}
			p := r.do("writer", c.method, c.path, body)
			if p.Status != c.status || p.Body != c.want || c.want != "" && p.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%d %v %s", p.Status, p.Header, p.Body)
			}
			if c.status == 201 && p.Header.Get("Location") != "/articles/7" {
				t.Errorf("%v", p.Header)
			}
			u.Hits()
		})
	}
	u.Answer(says("application/xml", one))
	for body, field := range map[string]string{`{"a b":1}`: "a b", `{"x":"\u0000"}`: "x", `{"x":[[1]]}`: "x", `{"a><b":1}`: "a><b"} {
		wantError(t, r.do("writer", "POST", "/articles", body), 400, "invalid_parameter", field)
	}
	if doc := r.do("reader", "GET", "/openapi.json", ""); strings.Contains(doc.Body, "xml") {
		t.Errorf("the description speaks of XML: %s", doc.Body)
	}
}

// R14: `wrap` puts the members into one element.
func TestXMLBodyIsWrapped(t *testing.T) {
	u := newRecorded(t, says("application/xml", "<response><article id=\"7\"/></response>"))
	g := harness.Prepare(t)
	wrapped := strings.Replace(strings.Replace(inXML, "ADDR", u.Addr, 1), "item /article", "item /article\n\t\t\twrap article", 1)
	g.Start(t, strings.Replace(site, "respond API_REST", strings.Replace(wrapped, "as xml article", "as xml request", 1), 1))
	r := &rig{g, t, make(map[string]string)}
	if p := r.do("writer", "POST", "/articles", `{"id":"7","title":"A <b>","tag":["x","y"]}`); p.Status != 201 {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	want := `<?xml version="1.0"?><request><article id="7"><subject>A &#60;b&#62;</subject><tag>x</tag><tag>y</tag></article></request>`
	if _, sent := u.last(t); sent != want {
		t.Errorf("%s, want %s", sent, want)
	}
	wantError(t, r.do("writer", "POST", "/articles", `{"id":{"a":1}}`), 400, "invalid_parameter", "id")
}

// R14: a body is one document, whatever is in its texts.
func TestBodyIsSentAsXML(t *testing.T) {
	one := "<response><article id=\"7\"/></response>"
	u := newRecorded(t, says("application/xml", one))
	g := harness.Prepare(t)
	g.Start(t, strings.Replace(site, "respond API_REST", strings.Replace(inXML, "ADDR", u.Addr, 1), 1))
	r := &rig{g, t, make(map[string]string)}
	r.do("writer", "POST", "/articles", `{"title":"A <b> & \"ü\"","tag":["x","]]>"],"n":null}`)
	hit, sent := u.last(t)
	media, accept := hit.Header.Get("Content-Type"), hit.Header.Get("Accept")
	want := `<?xml version="1.0"?><article><subject>A &#60;b&#62; &#38; &#34;&#252;&#34;</subject><tag>x</tag><tag>]]&#62;</tag><n></n></article>`
	if sent != want || media != "application/xml" || !strings.HasPrefix(accept, "application/xml") {
		t.Errorf("%s %s %s, want %s", media, accept, sent, want)
	}
}
