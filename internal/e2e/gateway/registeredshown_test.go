package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Q01: which program gets a private-use address depends on its scheme alone. What looks like a host behind it is the
// client's choice, and must neither be shown as the destination nor be covered by a consent for that host.
func TestPrivateSchemeIsShownInsteadOfItsHost(t *testing.T) {
	const bank, app = "https://bank.example/cb", "com.evil://bank.example/cb"
	g, _ := startRegistering(t, 10)
	p := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{
		"redirect_uris": []string{bank, app}, "client_name": "Notes", "application_type": "native", "scope": "read",
	})
	id, b := member(t, p, "client_id"), harness.NewBrowser(t, g.ID)
	b.Authorize(authorizeURL(g, id, "redirect_uri", bank), username, password)
	p = b.Get(authorizeURL(g, id, "redirect_uri", app))
	wantPage(t, p, http.StatusOK)
	if !strings.Contains(p.Body, `name="decision"`) {
		t.Fatalf("the consent for bank.example covers another program: %d %s", p.Status, p.Body)
	}
	if !strings.Contains(p.Body, "<bdi>com.evil:</bdi>") || strings.Contains(p.Body, "bank.example") {
		t.Errorf("the page does not say where the browser goes: %s", p.Body)
	}
	p = b.Get(g.ID + "/account")
	if p.Status != http.StatusOK || !strings.Contains(p.Body, "Notes") {
		t.Errorf("the account page: %d %s", p.Status, p.Body)
	}
}

// Q03: the client chooses the order of its addresses. The account page names them all, or an application would seem to
// belong to a host that it never used.
func TestAccountPageNamesEveryDestination(t *testing.T) {
	const bank, elsewhere = "https://bank.example/cb", "https://elsewhere.example/cb"
	g, _ := startRegistering(t, 10)
	p := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{
		"redirect_uris": []string{bank, bank + "2", elsewhere}, "client_name": "Notes", "scope": "read",
	})
	b := harness.NewBrowser(t, g.ID)
	b.Authorize(authorizeURL(g, member(t, p, "client_id"), "redirect_uri", elsewhere), username, password)
	p = b.Get(g.ID + "/account")
	wantPage(t, p, http.StatusOK)
	if !strings.Contains(p.Body, "<bdi>bank.example, elsewhere.example</bdi>") {
		t.Errorf("the account page does not say where the application is: %s", p.Body)
	}
}

// Q02: a name that nobody sees leaves the question on the consent page without the one who asks.
func TestInvisibleClientNameIsRefused(t *testing.T) {
	g, _ := startRegistering(t, 100)
	register := func(name string) harness.Page {
		return call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{
			"redirect_uris": []string{"https://new.example/cb"}, "client_name": name,
		})
	}
	for _, name := range []string{
		"\u3164", "\uffa0", "\u115f", "\u034f", "\u17b4", "\u2800", "\u200d", "\u200d\u200c\u200d", "\ufe0f", "\u180b", " \u200d ", "Web\u3164App",
	} {
		if p := register(name); p.Status != http.StatusBadRequest || p.JSON(t)["field"] != "client_name" {
			t.Errorf("%+q: %d %s", name, p.Status, p.Body)
		}
	}
	for _, name := range []string{"", "Notes", "❤\ufe0f Notes", "👩\u200d💻", "می\u200cخواهم", "ශ්\u200dරී", "便签"} {
		if p := register(name); p.Status != http.StatusCreated {
			t.Errorf("%+q: %d %s", name, p.Status, p.Body)
		}
	}
}
