package harness

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Page is a response with its whole body.
type Page struct {
	Status int
	Header http.Header
	Body   string
	URL    *url.URL
}

// Location is the parsed Location header.
func (p Page) Location(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse(p.Header.Get("Location"))
	if err != nil || p.Header.Get("Location") == "" {
		t.Fatalf("%d without a Location: %.300s", p.Status, p.Body)
	}
	return u
}

// JSON decodes the body as an object.
func (p Page) JSON(t testing.TB) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(p.Body), &m); err != nil {
		t.Fatalf("%d is no JSON object: %v: %.300s", p.Status, err, p.Body)
	}
	return m
}

// Browser keeps cookies and does not follow redirects.
type Browser struct {
	t      testing.TB
	Client *http.Client
	origin string
}

// NewBrowser returns a browser without cookies for the pages of an origin.
func NewBrowser(t testing.TB, origin string) *Browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	FailOn(t, err)
	return &Browser{t: t, origin: origin, Client: &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Get requests an address.
func (b *Browser) Get(address string) Page {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	FailOn(b.t, err)
	return Do(b.t, b.Client, r)
}

// Submit posts the form of a page with some of its fields filled in and, as browsers do, with the page's Origin.
func (b *Browser) Submit(p Page, fields url.Values) Page {
	b.t.Helper()
	action, values := Form(b.t, p)
	for name, v := range fields {
		values[name] = v
	}
	return b.Post(action, values)
}

// Post posts a form from a page of the issuer.
func (b *Browser) Post(address string, values url.Values) Page {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(values.Encode()))
	FailOn(b.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.origin)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return Do(b.t, b.Client, r)
}

// Authorize follows an authorization request to the redirect back to the client. It signs in and consents when asked.
func (b *Browser) Authorize(address, username, password string) *url.URL {
	b.t.Helper()
	p := b.Get(address)
	for range 5 {
		switch {
		case p.Header.Get("Location") != "":
			u := p.Location(b.t)
			if u = p.URL.ResolveReference(u); !strings.HasPrefix(u.String(), b.origin+"/") {
				return u
			}
			p = b.Get(u.String())
		case strings.Contains(p.Body, `name="password"`):
			p = b.Submit(p, url.Values{"username": {username}, "password": {password}})
		case strings.Contains(p.Body, `name="decision"`):
			p = b.Submit(p, url.Values{"decision": {"allow"}})
		default:
			b.t.Fatalf("neither a redirect nor a form: %d %.500s", p.Status, p.Body)
		}
	}
	b.t.Fatalf("no end of pages: %d %.500s", p.Status, p.Body)
	return nil
}

// Form returns the address and the field values of the page's form with method POST. It ignores the language menu in the
// footer.
func Form(t testing.TB, p Page) (action string, values url.Values) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(p.Body))
	FailOn(t, err)
	values = url.Values{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "form":
			if strings.EqualFold(attribute(n, "method"), "post") && action == "" && !strings.HasSuffix(attribute(n, "action"), "/language") {
				u, err := p.URL.Parse(attribute(n, "action"))
				FailOn(t, err)
				action = u.String()
			}
		case "input":
			if attribute(n, "type") == "hidden" || attribute(n, "value") != "" && attribute(n, "type") != "submit" {
				values.Set(attribute(n, "name"), attribute(n, "value"))
			}
		}
	}
	if action == "" {
		t.Fatalf("no form in %d %.500s", p.Status, p.Body)
	}
	return action, values
}

// Buttons returns the values of the page's buttons with a name, in order.
func Buttons(t testing.TB, p Page, name string) (values []string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(p.Body))
	FailOn(t, err)
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "button" && attribute(n, "name") == name {
			values = append(values, attribute(n, "value"))
		}
	}
	return values
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// Send sends a request with a body and header fields, given as pairs. The Content-Type of a POST defaults to that of a
// form.
func Send(t testing.TB, c *http.Client, method, address, body string, header ...string) Page {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	FailOn(t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return Do(t, c, r)
}

// Do sends a request and reads the response.
func Do(t testing.TB, c *http.Client, r *http.Request) Page {
	t.Helper()
	res, err := c.Do(r)
	FailOn(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	FailOn(t, err)
	return Page{Status: res.StatusCode, Header: res.Header, Body: string(body), URL: r.URL}
}

// Get requests an address without cookies and without following redirects.
func Get(t testing.TB, address string) (int, string) {
	t.Helper()
	p := NewBrowser(t, "").Get(address)
	return p.Status, p.Body
}
