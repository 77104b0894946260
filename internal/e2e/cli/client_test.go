package cli

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestClientIsCreatedUsedAndDeleted(t *testing.T) {
	g := start(t)
	made := asJSON[object](t, g, "", "client", "create", "nightly", "--scope", "read", "--name", "Nightly", "--owner", "ops")
	secret, _ := made["secret"].(string)
	if made["id"] != "nightly" || made["source"] != "store" || len(secret) < 40 {
		t.Fatalf("%v", made)
	}
	status, token := clientToken(t, g, harness.Credentials{ID: "nightly", Secret: secret})
	if status != http.StatusOK || g.Call(t, "GET", "/read", token).Status != http.StatusOK {
		t.Fatalf("the new client: %d", status)
	}
	for _, words := range [][]string{{"client", "list"}, {"client", "show", "nightly"}} {
		for _, format := range []string{"text", "json"} {
			if out := done(t, g, "", append(words, "--format", format)...); !strings.Contains(out, "nightly") || strings.Contains(out, secret) {
				t.Errorf("%v: %s", words, out)
			}
		}
	}
	done(t, g, "", "client", "delete", "nightly")
	if p := g.Call(t, "GET", "/read", token); p.Status != http.StatusUnauthorized {
		t.Errorf("its token after the removal: %d", p.Status)
	}
	if status, _ := clientToken(t, g, harness.Credentials{ID: "nightly", Secret: secret}); status != http.StatusUnauthorized {
		t.Errorf("its secret after the removal: %d", status)
	}
	if r := command(t, g, "", "client", "show", "nightly"); r.code != 4 {
		t.Errorf("%+v", r)
	}
}

func TestRotatedSecretOverlaps(t *testing.T) { // T15, of a client in the store
	g := start(t)
	secret := func(words ...string) string {
		s, _ := asJSON[object](t, g, "", words...)["secret"].(string)
		return s
	}
	works := func(s string) bool {
		status, _ := clientToken(t, g, harness.Credentials{ID: "job", Secret: s})
		return status == http.StatusOK
	}
	first := secret("client", "create", "job", "--scope", "read")
	second := secret("client", "rotate-secret", "job")
	if first == second || !works(first) || !works(second) {
		t.Fatal("within the overlap both must work")
	}
	third := secret("client", "rotate-secret", "job", "--overlap", "1s")
	if !works(third) {
		t.Fatal("the new one must work at once")
	}
	deadline := time.Now().Add(5 * time.Second)
	for works(second) {
		if time.Now().After(deadline) {
			t.Fatal("the overlap does not end")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if works(first) {
		t.Error("a shorter overlap ends those before too")
	}
	if fourth := secret("client", "rotate-secret", "job", "--overlap", "0"); works(third) || !works(fourth) {
		t.Error("without an overlap the one before ends at once")
	}
}

func TestConfiguredClientsAreListedButReadOnly(t *testing.T) {
	g := start(t)
	done(t, g, "", "client", "create", "kept", "--scope", "read")
	var got []string
	for _, c := range asJSON[[]object](t, g, "", "client", "list") {
		got = append(got, fmt.Sprint(c["id"], " ", c["source"]))
	}
	if want := []string{"kept store", "machine config", "web config"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	// S11: offline_access is for who acts for people.
	if machine, web := done(t, g, "", "client", "show", "machine"), done(t, g, "", "client", "show", "web"); strings.Contains(machine, "offline_access") || !strings.Contains(web, "offline_access") {
		t.Errorf("%s\n%s", machine, web)
	}
	for _, words := range [][]string{{"client", "delete", "web"}, {"client", "rotate-secret", "web"}, {"client", "create", "web", "--scope", "read"}} {
		if r := command(t, g, "", words...); r.code != 1 || r.out != "" {
			t.Errorf("%v: %+v", words, r)
		}
	}
	p := call(t, g, "DELETE", "clients/web", "")
	if code, message, _ := adminError(t, p); p.Status != http.StatusConflict || code != "conflict" || !strings.Contains(message, "configuration") {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if status, _ := clientToken(t, g, machine); status != http.StatusOK {
		t.Errorf("%d", status)
	}
}

func TestCreateClientSupportsEverySetting(t *testing.T) {
	g := start(t)
	got := asJSON[object](t, g, "", "client", "create", "all", "--name", "All", "--owner", "me", "--trusted", "--introspect", "--introspect-by-status",
		"--redirect-uri", "https://a.example/cb", "--redirect-uri", "https://a.example/cb?x=1,2", "--post-logout-redirect-uri", "https://a.example/",
		"--origin", "https://b.example", "--grant", "authorization_code,refresh_token", "--scope", "read,write,email", "--default-scope", "read",
		"--audience", "https://other.example", "--auth-method", "client_secret_post", "--deprecated-grant", "password=2099-06-30",
		"--id-token-alg", "ES256", "--userinfo-content-type", "application/jwt",
		"--require-state", "unless_pkce_or_nonce", "--id-token-claims", "email") // S18, S19
	delete(got, "created")
	delete(got, "secrets")
	delete(got, "secret")
	want := `map[audience:[https://other.example] auth_method:client_secret_post default_scopes:[read] deprecated_grants:map[password:2099-06-30] ` +
		`grants:[authorization_code refresh_token password] id:all id_token_alg:ES256 id_token_claims:[email] introspect:true introspect_by_status:true name:All origins:[https://b.example] owner:me ` +
		`post_logout_redirect_uris:[https://a.example/] redirect_uris:[https://a.example/cb https://a.example/cb?x=1,2] require_state:unless_pkce_or_nonce scopes:[read write email] ` +
		`source:store trusted:true userinfo_content_type:application/jwt]`
	if fmt.Sprint(got) != want {
		t.Errorf("%v", got)
	}
	if out := done(t, g, "", "client", "show", "all"); !strings.Contains(out, "password until 2099-06-30") {
		t.Error(out)
	}
	p := call(t, g, "PATCH", "clients/all", `{"name":"Renamed","deprecated_grants":null,"grants":["authorization_code"]}`)
	if m := p.JSON(t); p.Status != http.StatusOK || m["name"] != "Renamed" || m["deprecated_grants"] != nil || fmt.Sprint(m["scopes"]) != "[read write email]" {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	public := asJSON[object](t, g, "", "client", "create", "--public", "--redirect-uri", "https://spa.example/cb")
	if public["secret"] != nil || public["public"] != true || public["id"] == "" {
		t.Errorf("%v", public)
	}
}

// Ids are nearly free: whatever a path does with them, the client is found.
func TestClientWithUnusualIDIsFoundAndDeleted(t *testing.T) {
	g := start(t)
	for i, id := range []string{"a/b", "..", "-x", ".", "%2F", "a?b#c", "rotate-secret", `"q"`, "a%b", "~", "{x}", "\\"} {
		if p := call(t, g, "POST", "clients", fmt.Sprintf(`{"id":%q,"scopes":["read"]}`, id)); p.Status != http.StatusCreated {
			t.Fatalf("%s: %d %s", id, p.Status, p.Body)
		} else if got := call(t, g, "GET", strings.TrimPrefix(p.Header.Get("Location"), "/gatehouse/"), ""); got.JSON(t)["id"] != id {
			t.Errorf("%s: %d %s", id, got.Status, got.Body)
		}
		if i < 3 {
			done(t, g, "", "client", "rotate-secret", "--", id)
		}
		done(t, g, "", "client", "delete", "--", id)
		if p := call(t, g, "GET", "clients?limit=1000", ""); strings.Count(p.Body, `"source":"store"`) != 0 {
			t.Errorf("%s: %s", id, p.Body)
		}
	}
}

func TestClientListIsPaged(t *testing.T) {
	g := start(t)
	for i := range 5 {
		if p := call(t, g, "POST", "clients", fmt.Sprintf(`{"id":"n-%d","scopes":["read"]}`, i)); p.Status != http.StatusCreated || p.Header.Get("Location") != fmt.Sprintf("/gatehouse/clients/n-%d", i) {
			t.Fatalf("%d %s %s", p.Status, p.Header, p.Body)
		}
	}
	for _, limit := range []int{1, 2, 3, 7, 100} {
		var ids []string
		after := ""
		for range 10 {
			p := call(t, g, "GET", fmt.Sprintf("clients?limit=%d&after=%s", limit, after), "")
			m := p.JSON(t)
			items, _ := m["items"].([]any)
			if len(items) > limit {
				t.Fatalf("%d items of at most %d", len(items), limit)
			}
			for _, i := range items {
				o, _ := i.(object)
				ids = append(ids, fmt.Sprint(o["id"]))
			}
			if after, _ = m["next"].(string); after == "" {
				break
			}
		}
		if got := strings.Join(ids, " "); got != "machine n-0 n-1 n-2 n-3 n-4 web" {
			t.Errorf("limit %d: %s", limit, got)
		}
	}
}

// A cursor is an id and nothing that was sealed, so there is nothing to forge in it
// (CVE-2026-33504): what it is not, begins a list somewhere or is refused, and no more.
func TestClientListCursorCannotBeAbused(t *testing.T) {
	g := start(t)
	addUser(t, g)
	done(t, g, "", "client", "create", "job", "--scope", "read")
	for _, path := range []string{"users", "clients", "users/alice/grants"} {
		for _, after := range []string{"x", "'%20OR%201=1%20--", "%00", "%ff%fe", "../../state", "{}", "eyJhbGciOiJub25lIn0.e30.", "~~~~", strings.Repeat("a", 300), strings.Repeat("a", 5000)} {
			p := call(t, g, "GET", path+"?after="+after, "")
			if p.Status != http.StatusOK && p.Status != http.StatusBadRequest {
				t.Errorf("%s after %.40q: %d %s", path, after, p.Status, p.Body)
			}
			if p.Status == http.StatusOK && p.JSON(t)["items"] == nil {
				t.Errorf("%s after %.40q: %s", path, after, p.Body)
			}
		}
		for _, limit := range []string{"0", "-1", "1001", "x", "1e9", "", "%00", "9223372036854775808"} {
			if p := call(t, g, "GET", path+"?limit="+limit, ""); p.Status != http.StatusBadRequest {
				t.Errorf("%s limit %q: %d %s", path, limit, p.Status, p.Body)
			}
		}
	}
}
