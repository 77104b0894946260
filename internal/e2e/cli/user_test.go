package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// addUser adds alice with the usual password and returns her id.
func addUser(t *testing.T, g *harness.Gateway) string {
	t.Helper()
	id, _ := asJSON[object](t, g, password+"\n", "user", "add", "alice", "--name", "Alice", "--email", "alice@example.com")["id"].(string)
	if id == "" {
		t.Fatal("no id")
	}
	return id
}

// signedIn reports whether the browser still has a session: whether it is asked for a
// password.
func signedIn(t *testing.T, g *harness.Gateway, b *harness.Browser) bool {
	t.Helper()
	return !strings.Contains(b.Get(g.ID+"/account").Body, `name="password"`)
}

func refresh(t *testing.T, g *harness.Gateway, token string) int {
	t.Helper()
	return g.Token(t, web, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}).Status
}

func TestUserIsAddedShownAndRemoved(t *testing.T) {
	g := start(t)
	id := addUser(t, g)
	for _, words := range [][]string{{"user", "list"}, {"user", "show", "alice"}, {"user", "show", id}, {"user", "show", id, "--by", "id"}, {"user", "show", "alice", "--by", "username"}} {
		out := done(t, g, "", words...)
		if !strings.Contains(out, id) || !strings.Contains(out, "alice@example.com") || !strings.Contains(out, "active") {
			t.Errorf("%v: %s", words, out)
		}
	}
	for _, words := range [][]string{{"user", "show", id, "--by", "username"}, {"user", "show", "alice", "--by", "id"}, {"user", "show", "bob"}} {
		if r := command(t, g, "", words...); r.code != 4 {
			t.Errorf("%v: %+v", words, r)
		}
	}
	if r := command(t, g, password, "user", "add", "Alice"); r.code != 1 || !strings.Contains(r.err, "username") {
		t.Errorf("a name that is taken: %+v", r)
	}
	granted(t, g, harness.NewBrowser(t, g.ID), "alice")
	done(t, g, "", "user", "delete", "alice")
	if r := command(t, g, "", "user", "show", id); r.code != 4 {
		t.Errorf("%+v", r)
	}
	again := addUser(t, g)
	if again == id {
		t.Error("an id is used again")
	}
}

func TestGeneratedPasswordIsShownOnce(t *testing.T) {
	g := start(t)
	made := asJSON[object](t, g, "", "user", "add", "bob", "--generate", "--claims", `{"team":"x"}`)
	first, _ := made["password"].(string)
	if len(first) < 20 || fmt.Sprint(made["claims"]) != "map[team:x]" {
		t.Fatalf("%v", made)
	}
	second, _ := asJSON[object](t, g, "", "user", "passwd", "bob", "--generate")["password"].(string)
	if len(second) < 20 || first == second {
		t.Errorf("%s", second)
	}
	if out := done(t, g, "", "user", "show", "bob", "--format", "json"); strings.Contains(out, "password") || strings.Contains(out, first) || strings.Contains(out, second) {
		t.Error(out)
	}
	if out := done(t, g, "another good password\n", "user", "passwd", "bob"); strings.Contains(out, "another good") {
		t.Error(out)
	}
	for name, in := range map[string]string{"nothing": "", "an empty line": "\n", "too short": "short\n", "too long": strings.Repeat("x", 1025), "NUL": "aaaaaaaaaa\x00b\n", "not UTF-8": "\xff\xffaaaaaaaa\n"} {
		if r := command(t, g, in, "user", "passwd", "bob"); r.code != 1 || strings.TrimSpace(in) != "" && len(in) > 3 && strings.Contains(r.err, strings.TrimSpace(in)) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// When the command ends, it is over: for sessions, refresh and access tokens alike.
func TestCommandReturnsAfterTheUsersGrantsEnd(t *testing.T) { // F10, a new password included
	for name, c := range map[string]struct {
		in    string
		words []string
		gone  bool // cannot sign in again
	}{
		"lock":         {"", []string{"user", "lock", "alice"}, true},
		"delete":       {"", []string{"user", "delete", "alice"}, true},
		"passwd":       {"another good password\n", []string{"user", "passwd", "alice"}, true},
		"revoke --all": {"", []string{"grant", "revoke", "alice", "--all"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := start(t)
			addUser(t, g)
			b := harness.NewBrowser(t, g.ID)
			access, refreshToken := granted(t, g, b, "alice")
			if !signedIn(t, g, b) || g.Call(t, "GET", "/read", access).Status != http.StatusOK {
				t.Fatal("not signed in")
			}
			done(t, g, c.in, c.words...)
			if s := g.Call(t, "GET", "/read", access).Status; s != http.StatusUnauthorized {
				t.Errorf("the access token: %d", s)
			}
			if s := refresh(t, g, refreshToken); s != http.StatusBadRequest {
				t.Errorf("the refresh token: %d", s)
			}
			if signedIn(t, g, b) {
				t.Error("the session goes on")
			}
			p := harness.NewBrowser(t, g.ID)
			after := p.Submit(p.Get(g.ID+"/account"), url.Values{"username": {"alice"}, "password": {password}})
			if refused := strings.Contains(after.Body, `name="password"`); refused != c.gone {
				t.Errorf("signing in again: %d %.200s", after.Status, after.Body)
			}
		})
	}
}

func TestUnlockedUserCanSignInAgain(t *testing.T) {
	g := start(t)
	addUser(t, g)
	if out := done(t, g, "", "user", "lock", "alice"); !strings.Contains(out, "locked") {
		t.Error(out)
	}
	done(t, g, "", "user", "lock", "alice") // once more is no error
	if out := done(t, g, "", "user", "unlock", "alice"); !strings.Contains(out, "active") {
		t.Error(out)
	}
	access, _ := granted(t, g, harness.NewBrowser(t, g.ID), "alice")
	if s := g.Call(t, "GET", "/read", access).Status; s != http.StatusOK {
		t.Errorf("%d", s)
	}
}

// A lock by failed sign-ins ends for strangers and for the browser that the user knows.
func TestUnlockOrNewPasswordEndsALockout(t *testing.T) {
	for name, c := range map[string]struct{ id, stdin, command, password string }{
		"unlock":       {"", "", "unlock", password},
		"passwd":       {"", "another staple of horses\n", "passwd", "another staple of horses"},
		"of a UUID":    {"6f1c2f0a-8a52-4b1e-9a57-0d4b1c0a9e77", "", "unlock", password},
		"of a long ID": {strings.Repeat("9", 255), "", "unlock", password},
	} {
		t.Run(name, func(t *testing.T) {
			g := start(t)
			if c.id == "" {
				addUser(t, g)
			} else {
				done(t, g, "id,username,password\n"+c.id+",alice,"+password+"\n", "user", "import", "-", "--input", "csv")
			}
			tries := func(b *harness.Browser, password string) bool {
				b.Submit(b.Get(g.ID+"/account"), url.Values{"username": {"alice"}, "password": {password}})
				return signedIn(t, g, b)
			}
			home, other := harness.NewBrowser(t, g.ID), harness.NewBrowser(t, g.ID)
			if !tries(home, password) {
				t.Fatal("alice cannot sign in")
			}
			home.Submit(home.Get(g.ID+"/logout"), url.Values{})
			for range 10 {
				tries(home, "wrong")
				tries(other, "wrong")
			}
			for _, b := range []*harness.Browser{home, other} {
				if tries(b, password) {
					t.Fatal("ten failures lock nobody")
				}
			}
			done(t, g, c.stdin, "user", c.command, "alice")
			for name, b := range map[string]*harness.Browser{"the browser that she uses": home, "another one": other} {
				if !tries(b, c.password) {
					t.Errorf("%s: alice is still locked", name)
				}
			}
		})
	}
}

func TestUserFieldsAreUpdated(t *testing.T) {
	g := start(t)
	id := addUser(t, g)
	p := call(t, g, "PATCH", "users/alice", `{"name":"Alicia","phone":"+1"}`)
	if m := p.JSON(t); p.Status != http.StatusOK || m["name"] != "Alicia" || m["phone"] != "+1" || m["email"] != "alice@example.com" || m["id"] != id {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	for body, field := range map[string]string{
		`{"id":"u-2"}`: "id", `{"username":"bob"}`: "username", `{"locked":true}`: "locked", `{"password":"long enough"}`: "password",
		`{"picture":"http://x.example"}`: "picture", `{"name":7}`: "name",
	} {
		p := call(t, g, "PATCH", "users/alice", body)
		if _, _, got := adminError(t, p); p.Status != http.StatusBadRequest || got != field {
			t.Errorf("%s: %d %s", body, p.Status, p.Body)
		}
	}
	for body, field := range map[string]string{
		`{"username":"","password":"long enough"}`: "username", `{"username":"x"}`: "password", `{"username":"x","password":"short"}`: "password",
		`{"username":"x","password":"long enough","generate_password":true}`: "password", `{"username":"x","locked":true}`: "locked",
	} {
		p := call(t, g, "POST", "users", body)
		if _, _, got := adminError(t, p); p.Status != http.StatusBadRequest || got != field {
			t.Errorf("%s: %d %s", body, p.Status, p.Body)
		}
	}
	if p := call(t, g, "POST", "users", `{"username":"ALICE","password":"long enough"}`); p.Status != http.StatusConflict {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}

// Somebody's user name may be another's id: nobody is locked by mistake.
func TestAmbiguousNameIsRefused(t *testing.T) {
	g := start(t)
	alice := addUser(t, g)
	done(t, g, password, "user", "add", "--", alice)
	r := command(t, g, "", "user", "lock", alice)
	if r.code != 1 || !strings.Contains(r.err, "by=") && !strings.Contains(r.err, "--by") {
		t.Errorf("%+v", r)
	}
	if got := asJSON[object](t, g, "", "user", "lock", alice, "--by", "id"); got["username"] != "alice" || got["locked"] != true {
		t.Errorf("%v", got)
	}
	if got := asJSON[object](t, g, "", "user", "show", alice, "--by", "username"); got["username"] != alice || got["locked"] != false {
		t.Errorf("%v", got)
	}
}

func TestGrantsAreListedAndRevoked(t *testing.T) {
	g := start(t)
	id := addUser(t, g)
	b := harness.NewBrowser(t, g.ID)
	access, refreshToken := granted(t, g, b, "alice")
	other, otherRefresh := granted(t, g, b, "alice")
	grants := asJSON[[]object](t, g, "", "grant", "list", "alice")
	if len(grants) != 2 || grants[0]["client"] != "web" || fmt.Sprint(grants[0]["scopes"]) != "[read]" {
		t.Fatalf("%v", grants)
	}
	if got := asJSON[[]object](t, g, "", "grant", "list", id); len(got) != 2 {
		t.Errorf("by id: %v", got)
	}
	if out := done(t, g, "", "grant", "list", "alice"); strings.Contains(out, refreshToken) || !strings.Contains(out, "web") {
		t.Error(out)
	}
	first, _ := grants[0]["id"].(string)
	done(t, g, "", "grant", "revoke", "--", "alice", first)
	alive := 0
	for _, token := range []string{access, other} {
		if g.Call(t, "GET", "/read", token).Status == http.StatusOK {
			alive++
		}
	}
	if alive != 1 {
		t.Errorf("%d of the two access tokens live", alive)
	}
	if r := command(t, g, "", "grant", "revoke", "--", "alice", first); r.code != 4 {
		t.Errorf("a second time: %+v", r)
	}
	done(t, g, "", "grant", "revoke", "alice", "--client", "web")
	if a, b := refresh(t, g, refreshToken), refresh(t, g, otherRefresh); a != 400 || b != 400 {
		t.Errorf("%d %d", a, b)
	}
	if got := asJSON[[]object](t, g, "", "grant", "list", "alice"); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if !signedIn(t, g, b) {
		t.Error("revoking grants signs nobody out")
	}
	// The remembered consent is gone too: the client has to ask again.
	page := b.Get(g.ID + "/authorize?" + url.Values{
		"client_id": {"web"}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
	}.Encode())
	if !strings.Contains(page.Body, `name="decision"`) {
		t.Errorf("%d %.300s", page.Status, page.Body)
	}
}

// U27: somebody else's grant is not revoked under one's name.
func TestGrantOfAnotherUserIsNotRevoked(t *testing.T) {
	g := start(t)
	addUser(t, g)
	done(t, g, password, "user", "add", "bob")
	access, _ := granted(t, g, harness.NewBrowser(t, g.ID), "alice")
	id, _ := asJSON[[]object](t, g, "", "grant", "list", "alice")[0]["id"].(string)
	if r := command(t, g, "", "grant", "revoke", "--", "bob", id); r.code != 4 {
		t.Errorf("%+v", r)
	}
	if s := g.Call(t, "GET", "/read", access).Status; s != http.StatusOK {
		t.Errorf("%d", s)
	}
}

func TestUsersOfAnotherDirectoryAreReadOnly(t *testing.T) {
	g := harness.Prepare(t, "$UPSTREAM", "localhost:1", "$GLOBAL", "", "$GUARD", "")
	hash := strings.TrimSpace(program(t, password+"\n", "gatehouse", "user", "hash").out)
	g.WriteFile(t, "users.json", fmt.Sprintf(`{"users":[{"id":"u-7","username":"alice","password_hash":%q}]}`, hash))
	g.Start(t, strings.ReplaceAll(site, "users store", "users file $DIR/users.json"))
	for _, words := range [][]string{{"user", "list"}, {"user", "add", "bob", "--generate"}, {"user", "lock", "u-7"}, {"user", "delete", "u-7"}, {"user", "passwd", "u-7", "--generate"}} {
		if r := command(t, g, "", words...); r.code != 1 || !strings.Contains(r.err, `"file"`) {
			t.Errorf("%v: %+v", words, r)
		}
	}
	if out := done(t, g, "", "user", "show", "u-7"); !strings.Contains(out, "alice") {
		t.Error(out)
	}
	b := harness.NewBrowser(t, g.ID)
	_, refreshToken := granted(t, g, b, "alice")
	if got := asJSON[[]object](t, g, "", "grant", "list", "u-7"); len(got) != 1 {
		t.Errorf("%v", got)
	}
	done(t, g, "", "grant", "revoke", "u-7", "--all")
	if s := refresh(t, g, refreshToken); s != http.StatusBadRequest || signedIn(t, g, b) {
		t.Errorf("%d", s)
	}
	if r := command(t, g, "", "grant", "list", "alice"); r.code != 4 || !strings.Contains(r.err, "id") {
		t.Errorf("%+v", r)
	}
}

func TestKeysAreListedRotatedAndRevoked(t *testing.T) {
	g := start(t)
	if out := done(t, g, "", "keys", "list"); !strings.Contains(out, "no signing key yet") {
		t.Error(out)
	}
	_, token := clientToken(t, g, machine)
	keys := asJSON[[]object](t, g, "", "keys", "list")
	if len(keys) != 1 || keys[0]["state"] != "signs" || keys[0]["alg"] != "ES256" {
		t.Fatalf("%v", keys)
	}
	got := asJSON[[]object](t, g, "", "keys", "rotate")
	states := make(map[any]bool)
	for _, k := range got {
		states[k["state"]] = true
	}
	if len(got) != 2 || !states["signs"] || !states["next"] {
		t.Errorf("%v", got)
	}
	if s := g.Call(t, "GET", "/read", token).Status; s != http.StatusOK {
		t.Errorf("after a rotation: %d", s)
	}
	old, _ := keys[0]["kid"].(string)
	done(t, g, "", "keys", "revoke", "--", old)
	if s := g.Call(t, "GET", "/read", token).Status; s != http.StatusUnauthorized {
		t.Errorf("a token of the revoked key: %d", s)
	}
	if _, token := clientToken(t, g, machine); g.Call(t, "GET", "/read", token).Status != http.StatusOK {
		t.Error("another key signs at once")
	}
	for _, k := range asJSON[[]object](t, g, "", "keys", "list") {
		if k["kid"] == old || k["private"] != nil {
			t.Errorf("%v", k)
		}
	}
}

// The admin endpoint changes hands with every reload, and commands go on.
func TestCommandsWorkDuringReloads(t *testing.T) {
	g := start(t)
	addUser(t, g)
	end := time.Now().Add(3 * time.Second)
	finished := make(chan result, 1)
	go func() {
		for n := 0; ; n++ {
			if r := command(t, g, "", "user", "list"); r.code != 0 || !strings.Contains(r.out, "alice") || time.Now().After(end) {
				finished <- r
				return
			}
		}
	}()
	for i := 0; time.Now().Before(end); i++ {
		g.Load(t, strings.Replace(site, "$GLOBAL", fmt.Sprintf("name \"Load %d\"", i), 1))
		time.Sleep(100 * time.Millisecond)
	}
	if r := <-finished; r.code != 0 {
		t.Errorf("%+v", r)
	}
	if got := call(t, g, "GET", "users", ""); got.Status != http.StatusOK {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// A slip of the pen must not look like something done.
func TestRevokingForAnUnknownUserIsAnError(t *testing.T) {
	g := start(t)
	for _, words := range [][]string{{"grant", "revoke", "alcie", "--all"}, {"grant", "revoke", "alcie", "--client", "web"}} {
		if r := command(t, g, "", words...); r.code != 4 || !strings.Contains(r.err, "alcie") {
			t.Errorf("%v: %+v", words, r)
		}
	}
}

func TestMisspelledClientIsAnError(t *testing.T) {
	g := start(t)
	addUser(t, g)
	if r := command(t, g, "", "grant", "revoke", "alice", "--client", "wbe"); r.code != 4 || !strings.Contains(r.err, "there is no client wbe") {
		t.Errorf("%+v", r)
	}
	done(t, g, "", "grant", "revoke", "alice", "--client", "web")
	if out := done(t, g, "", "grant", "list", "alice"); !strings.Contains(out, "no living grant") {
		t.Error(out)
	}
}
