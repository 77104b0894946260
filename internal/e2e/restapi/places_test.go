package restapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const placed = `
	to $UP
	resource pages {
		list {
			items /query/pages
			total /n
		}
		item /query/page
		id /pageid
		rename id=pageid text=/revisions/0/slots/main/content author=/revisions/0/user
		rename title=/title/rendered title=subject
		drop revisions _links /meta/debug
		values author root=1
		links self
		validate title length 5..100
	}
	resource posts {
		upstream GET  /posts/{id} /posts/{id}
		upstream POST /posts      /posts as form
		upstream PUT  /posts/{id} /posts/{id}
		item /post
		rename text=/content/rendered name=n
		wrap post
	}
	resource categories {
		id /name
		rename id=/name id=category size=/disk~1size
	}
	openapi
`

// R10: members from inside the API's resources, members that stay there, and bodies in a
// member.
func TestMembersAreLiftedAndBodiesNested(t *testing.T) {
	up := harness.NewUpstream(t)
	const page = `{"pageid":%d,"title":{"rendered":"Of \u00fc","raw":"x"},"_links":{"self":[{"href":"https://10.0.0.7/"}]},"meta":{"debug":{"sql":"x"},"lang":"en"},` +
		`"revisions":[{"user":1,"slots":{"main":{"content":%s,"model":"wikitext"}}}]}`
	large := `"` + strings.Repeat("x", 3<<20) + `"`
	var sent string
	up.Answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, _ := io.ReadAll(r.Body)
		sent = r.Header.Get("Content-Type") + " " + string(body)
		switch path := r.URL.Path; {
		case path == "/pages" && r.Method == http.MethodGet:
			fmt.Fprintf(w, `{"query":{"pages":{"7":`+page+`,"8":{"pageid":8,"revisions":[]}}},"n":2}`, 7, `"a"`)
		case path == "/pages" || path == "/pages/7":
			fmt.Fprintf(w, `{"query":{"page":`+page+`}}`, 7, `"a\/b"`)
		case path == "/pages/9":
			fmt.Fprintf(w, `{"query":{"page":`+page+`}}`, 9, large)
		case path == "/categories":
			fmt.Fprint(w, `{"name":"Music","disk/size":1}`)
		case path == "/categories/Movies":
			fmt.Fprint(w, `{"name":"Movies","category":"none","disk/size":7}`)
		case path == "/posts/9" || path == "/posts":
			fmt.Fprintf(w, `{"post":{"id":9,"n":"x","content":{"rendered":%s}}}`, large)
		default:
			fmt.Fprint(w, `{"post":{"id":7,"n":"x","content":{"rendered":"<p>","raw":""}}}`)
		}
	})
	g := harness.Prepare(t, "$UP", up.Addr)
	g.Start(t, strings.Replace(worded(placed), "public * /open /open/*", "public GET /openapi.json", 1))
	r := &rig{g, t, make(map[string]string)}
	for path, want := range map[string]string{
		"/pages/7": `{"id":7,"title":"Of \u00fc","meta":{"lang":"en"},"author":"root","text":"a\/b","links":[{"rel":"self","method":"GET","href":"/pages/7"}]}`,
		"/pages": `{"data":[{"id":7,"title":"Of \u00fc","meta":{"lang":"en"},"author":"root","text":"a","links":[{"rel":"self","method":"GET","href":"/pages/7"}]},` +
			`{"id":8,"links":[{"rel":"self","method":"GET","href":"/pages/8"}]}],"pagination":{"total":2,"page":1,"limit":20,"total_pages":1}}`,
		"/categories/Movies": `{"id":"Movies","size":7}`,
		"/posts/7":           `{"id":7,"name":"x","content":{"rendered":"<p>","raw":""},"text":"<p>"}`,
	} {
		if p := r.do("reader", "GET", path, ""); p.Status != 200 || p.Body != want {
			t.Errorf("R10 %s: %d %s, want %s", path, p.Status, p.Body, want)
		}
	}
	if p := r.do("reader", "GET", "/pages/9", ""); p.Status != 200 || len(p.Body) < 3<<20 || !strings.Contains(p.Body, `,"text":"xxx`) {
		t.Errorf("R10 a long text out of what is dropped: %d, %d bytes", p.Status, len(p.Body))
	}
	// What stays is passed on until the bound is reached, and the answer is not closed neatly.
	req, err := http.NewRequest("GET", r.API+"/posts/9", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token("reader"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("R10 a long text out of what stays: %d, %d bytes", res.StatusCode, len(body))
	}
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/pages", `{"title":"Long enough","other":1}`, `application/json {"subject":"Long enough","other":1}`},
		{"PUT", "/posts/7", `{"name":"x","tags":["a"]}`, `application/json {"post":{"n":"x","tags":["a"]}}`},
		{"POST", "/categories", `{"id":"Music","size":1}`, `application/json {"category":"Music","disk/size":1}`},
		{"POST", "/posts", `{"name":"x y","tags":["a"]}`, `application/x-www-form-urlencoded post[n]=x+y&post[tags][]=a`},
	} {
		p := r.do("writer", c.method, c.path, c.body)
		if got := strings.NewReplacer("%5B", "[", "%5D", "]").Replace(sent); p.Status >= 300 || got != c.want {
			t.Errorf("R10 %s %s: %d %.200s, sent %s, want %s", c.method, c.path, p.Status, p.Body, got, c.want)
		}
	}
	for body, field := range map[string]string{
		`{"text":"x"}`: "text", `{"author":"root"}`: "author", `{"subject":"x"}`: "subject", `{"Text":"x"}`: "Text", `{"title":"four"}`: "title",
	} {
		wantError(t, r.do("writer", "POST", "/pages", body), 400, "invalid_parameter", field)
	}
	// A member that the API calls differently in answers and in bodies has one name for clients.
	for _, name := range []string{"name", "category", "disk/size"} {
		wantError(t, r.do("writer", "POST", "/categories", `{"id":"Music","`+name+`":"Movies"}`), 400, "invalid_parameter", name)
	}
	if p := r.do("writer", "POST", "/categories", `{"id":"Music"}`); p.Status != 201 || p.Body != `{"id":"Music","size":1}` || p.Header.Get("Location") != "/categories/Music" {
		t.Errorf("R10 %d %s %s", p.Status, p.Header.Get("Location"), p.Body)
	}
	doc := r.do("", "GET", "/openapi.json", "").Body
	prism := harness.StartPrism(t, doc, r.API)
	for body, permitted := range map[string]bool{`{"title":"Long enough"}`: true, `{"text":"x"}`: false, `{"author":null}`: false, `{"subject":"x"}`: false} {
		req, err := http.NewRequest("POST", prism.URL+"/pages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+r.token("writer"))
		if p, reached, violations := prism.Do(t, http.DefaultClient, req); reached != permitted || permitted && violations != "" {
			t.Errorf("R10 %s: the document permits it: %v, want %v; %d %s", body, reached, permitted, p.Status, violations)
		}
	}
	if !strings.Contains(doc, `"text":{"readOnly":true}`) || strings.Contains(doc, `"_links"`) {
		t.Errorf("R10 %s", doc)
	}
}
