package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// parse is a page as a browser has it.
func parse(t *testing.T, p harness.Page) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(p.Body))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// having are the elements of this name that have an attribute with this word in it.
func having(root *html.Node, element, attribute, word string) (all []*html.Node) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != element {
			continue
		}
		for _, a := range n.Attr {
			if a.Key == attribute && strings.Contains(" "+a.Val+" ", " "+word+" ") {
				all = append(all, n)
			}
		}
	}
	return all
}

// words are what stands in an element.
func words(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// rows are the permissions that a consent page lists.
func rows(t *testing.T, p harness.Page) (all []string) {
	t.Helper()
	for _, list := range having(parse(t, p), "ul", "class", "scopes") {
		for n := range list.ChildNodes() {
			if n.Type == html.ElementNode {
				all = append(all, words(n))
			}
		}
	}
	return all
}

func TestConsentPageIsOneQuestion(t *testing.T) { // S12
	g, _ := prepare(t)
	g.WriteFile(t, "users.json", strings.Replace(users, `"name":"Alice"`, `"name":"Alice Liddell"`, 1))
	g.Start(t, site)
	b := harness.NewBrowser(t, g.ID)
	p := b.Submit(b.Get(authorizeURL(g, "web")), url.Values{"username": {username}, "password": {password}})
	wantPage(t, p, http.StatusOK)

	t.Run("S12 the client and the person have tiles, the person by name", func(t *testing.T) {
		shown := ""
		for _, tile := range having(parse(t, p), "span", "class", "tile") {
			shown += words(tile) + " "
		}
		if shown != "WC AL " {
			t.Errorf("tiles %q", shown)
		}
		if !strings.Contains(words(parse(t, p)), "Alice Liddell alice Not you?") {
			t.Errorf("the person: %s", words(parse(t, p)))
		}
	})
	t.Run("S12 of a known client the answers stay in view, the affirmative one primary", func(t *testing.T) {
		bar := having(parse(t, p), "div", "class", "sticky")
		if len(bar) != 1 || words(bar[0]) != "Deny Allow" {
			t.Fatalf("%d bars in %s", len(bar), p.Body)
		}
		if primary := having(bar[0], "button", "class", "primary"); len(primary) != 1 || words(primary[0]) != "Allow" {
			t.Errorf("%d primary buttons", len(primary))
		}
	})
	t.Run("S12 technical names stand behind details", func(t *testing.T) {
		names := having(parse(t, p), "code", "translate", "no")
		for _, n := range names {
			in := n
			for in != nil && in.Data != "details" {
				in = in.Parent
			}
			if in == nil || words(n) != "read" {
				t.Errorf("%q stands in the open", words(n))
			}
		}
		if got := rows(t, p); len(names) != 1 || len(got) != 1 || got[0] != "Read" {
			t.Errorf("rows %q, %d names", got, len(names))
		}
	})
	t.Run("S12 somebody else signs in instead, and the answer is theirs", func(t *testing.T) {
		login := b.Submit(p, url.Values{"decision": {"switch"}})
		if !isLogin(login) || !strings.Contains(login.Body, "Web Client") {
			t.Fatalf("%d %s", login.Status, login.Body)
		}
		// Whoever was signed in is not answered for any more, not by a switch of the language either.
		if again := b.Post(g.ID+"/connect/language", url.Values{"lang": {"zh"}, "request": {requestOf(t, login)}}); !isLogin(again) {
			t.Errorf("%d %.300s", again.Status, again.Body)
		}
		q := b.Submit(login, url.Values{"username": {"bob"}, "password": {password}})
		if wantPage(t, q, http.StatusOK); !strings.Contains(q.Body, "bob") || strings.Contains(q.Body, "Alice") {
			t.Fatalf("%s", q.Body)
		}
		// The page that alice saw answers for nobody else.
		wantPage(t, b.Submit(p, url.Values{"decision": {"allow"}}), http.StatusForbidden)
		wantCode(t, g, b.Submit(q, url.Values{"decision": {"allow"}}), callback)
	})
	t.Run("S12 only a page of this person's can ask for another", func(t *testing.T) {
		_, v := harness.Form(t, p)
		v.Set("decision", "switch")
		v.Set("token", "x")
		wantPage(t, b.Post(g.ID+"/consent", v), http.StatusForbidden)
	})
}

// requestOf is the sealed request of a page.
func requestOf(t *testing.T, p harness.Page) string {
	t.Helper()
	_, v := harness.Form(t, p)
	return v.Get("request")
}

func TestConsentPageMarksNewScopes(t *testing.T) { // S12
	g, _ := start(t)
	b := harness.NewBrowser(t, g.ID)
	b.Authorize(authorizeURL(g, "web", "scope", "read"), username, password)
	p := b.Get(authorizeURL(g, "web", "scope", "read write"))
	wantPage(t, p, http.StatusOK)
	if got := strings.Join(rows(t, p), "; "); got != "Write New since you last allowed it; Read" {
		t.Errorf("S12 rows %q", got)
	}
	wantCode(t, g, b.Submit(p, url.Values{"decision": {"allow"}}), callback)
	p = b.Get(authorizeURL(g, "web", "scope", "read write", "prompt", "consent"))
	if got := strings.Join(rows(t, p), "; "); got != "Read; Write" {
		t.Errorf("S12 nothing is new: %q", got)
	}
	// What was taken back is as new as everything else.
	account := accountOf(t, g, b, username)
	wantPage(t, press(b, account, "withdraw", harness.Buttons(t, account, "withdraw")[0]), http.StatusOK)
	if got := strings.Join(rows(t, b.Get(authorizeURL(g, "web", "scope", "read write"))), "; "); got != "Read; Write" {
		t.Errorf("S12 after access was taken back: %q", got)
	}
}

func TestUnverifiedClientPageDoesNotFavorAllow(t *testing.T) { // S12
	g, _ := startRegistering(t, 10)
	made := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{
		"redirect_uris": []string{"https://other.example/cb"}, "client_name": "Your Bank", "token_endpoint_auth_method": "none", "scope": "read",
	})
	if made.Status != http.StatusCreated {
		t.Fatalf("%d %s", made.Status, made.Body)
	}
	b := harness.NewBrowser(t, g.ID)
	p := b.Submit(b.Get(authorizeURL(g, "web", "client_id", member(t, made, "client_id"), "redirect_uri", "https://other.example/cb")), url.Values{"username": {username}, "password": {password}})
	wantPage(t, p, http.StatusOK)
	doc := parse(t, p)
	if !strings.Contains(words(doc), "Nobody has checked its name") || len(having(doc, "span", "class", "stranger")) != 1 {
		t.Fatalf("no caution: %s", p.Body)
	}
	if n := len(having(doc, "div", "class", "sticky")) + len(having(doc, "button", "class", "primary")); n != 0 {
		t.Errorf("S12 %d parts of the page make it easy: %s", n, p.Body)
	}
	p = b.Get(g.ID + "/logout?client_id=" + member(t, made, "client_id"))
	if shown := words(parse(t, p)); !strings.Contains(shown, "Your Bank asks you to sign out") || !strings.Contains(shown, "Nobody has checked its name") {
		t.Errorf("S12 a link to sign out shows %q", shown)
	}
	if p = b.Get(g.ID + "/logout?client_id=web"); strings.Contains(p.Body, "Nobody has checked its name") {
		t.Errorf("S12 of a client in the configuration: %s", p.Body)
	}
}
