package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestAccountPageShowsTimeAndPlace(t *testing.T) { // S13
	g, _ := startSite(t, behindProxy)
	signIn := func(address string) (*harness.Browser, harness.Page) {
		b := harness.NewBrowser(t, g.ID)
		_, v := harness.Form(t, b.Get(g.ID+"/login"))
		v.Set("username", username)
		v.Set("password", password)
		p := send(t, b, http.MethodPost, g.ID+"/login", v.Encode(), "Origin", g.ID, "X-Forwarded-For", address,
			"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		if p.Status != http.StatusSeeOther {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		return b, b.Get(g.ID + "/account")
	}
	signIn("203.0.113.24")
	_, p := signIn("192.168.7.9")
	wantPage(t, p, http.StatusOK)
	shown := words(parse(t, p))
	for _, want := range []string{"Firefox on Linux this browser Local network · 192.168.7.9 Signed in on ", "Firefox on Linux 203.0.113.24 Signed in on "} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown: %s", want, shown)
		}
	}
	// In UTC as the server writes it; the script that the policy names writes it in the reader's zone.
	times := 0
	for n := range parse(t, p).Descendants() {
		if n.Type == html.ElementNode && n.Data == "time" && strings.HasSuffix(attrOf(n, "datetime"), "Z") && strings.HasSuffix(words(n), " UTC") {
			times++
		}
	}
	if policy := p.Header.Get("Content-Security-Policy"); times < 2 || !strings.HasSuffix(policy, "; script-src "+g.ID+"/connect/times.js") {
		t.Errorf("%d times, policy %s", times, policy)
	}
	if status, script := harness.Get(t, g.ID+"/connect/times.js"); status != http.StatusOK || !strings.Contains(script, "Intl.DateTimeFormat") {
		t.Errorf("%d %s", status, script)
	}
}

func TestUnknownClientPageIsExplained(t *testing.T) { // S13, U12
	g, _ := start(t)
	b := harness.NewBrowser(t, g.ID)
	for name, address := range map[string]string{
		"unknown client":   authorizeURL(g, "nobody", "redirect_uri", "https://typo.example/cb?a=b"),
		"unknown redirect": authorizeURL(g, "web", "redirect_uri", "https://typo.example/cb?a=b"),
	} {
		p := b.Get(address)
		wantPage(t, p, http.StatusBadRequest)
		doc := parse(t, p)
		if sent := having(doc, "code", "class", "sent"); len(sent) != 1 || words(sent[0]) != "https://typo.example/cb?…" {
			t.Errorf("S13 %s: the address is not shown: %s", name, p.Body)
		}
		if shown := words(doc); !strings.Contains(shown, "the people who run") {
			t.Errorf("S13 %s: nothing that a person can do: %s", name, shown)
		}
		for n := range doc.Descendants() {
			if n.Type == html.ElementNode && strings.Contains(attrOf(n, "href")+attrOf(n, "action")+attrOf(n, "src"), "typo") {
				t.Errorf("S13 %s: <%s> leads there", name, n.Data)
			}
		}
	}
	for _, sent := range append(elsewhere, markup, strings.Repeat("https://evil.example/", 500)) {
		p := b.Get(authorizeURL(g, "nobody", "redirect_uri", sent))
		if wantPage(t, p, http.StatusBadRequest); len(p.Body) > 24<<10 {
			t.Errorf("S13 %.40q: %d bytes", sent, len(p.Body))
		}
		for _, n := range having(parse(t, p), "code", "class", "sent") {
			if shown := words(n); strings.ContainsAny(shown, " <>\"") || len(shown) > 3*200+3 {
				t.Errorf("S13 %.40q: shown as %q", sent, shown)
			}
		}
	}
}

func TestIssuerAddressHasALandingPage(t *testing.T) { // S10
	g, _ := start(t)
	b := harness.NewBrowser(t, g.ID)
	p := b.Get(g.ID + "/")
	if wantPage(t, p, http.StatusOK); !strings.Contains(words(parse(t, p)), "This is Test ID") || !strings.Contains(p.Body, `href="/login"`) || len(cookies(t, p)) != 0 {
		t.Errorf("S10 %v %s", p.Header, p.Body)
	}
	if p := signedIn(t, g).Get(g.ID + "/"); p.Status != http.StatusFound || p.Header.Get("Location") != "/account" {
		t.Errorf("S10 signed in: %d to %q: %s", p.Status, p.Header.Get("Location"), words(parse(t, p)))
	}
	wantPage(t, b.Get(g.ID+"/nothing"), http.StatusNotFound)
	wantPage(t, b.Post(g.ID+"/", url.Values{}), http.StatusNotFound)
	g.Load(t, strings.Replace(site, "issuer http://$ID", "issuer http://$ID/auth", 1))
	for _, path := range []string{"/auth", "/auth/"} {
		if p := b.Get(g.ID + path); p.Status != http.StatusOK || !strings.Contains(p.Body, `href="/auth/login"`) {
			t.Errorf("S10 %s: %d", path, p.Status)
		}
	}
}
