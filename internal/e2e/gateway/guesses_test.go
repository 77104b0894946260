package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/plugins/directory/sql/sqltest"
)

// aliceByAnyName is a login endpoint that knows alice by her name, her address and her
// phone number. With telling its refusals say whose name it was.
func aliceByAnyName(t *testing.T, telling bool) string {
	t.Helper()
	legacy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var id any
		switch r.PostFormValue("username") {
		case "alice", "alice@example.com", "+1 555 0100":
			id = 7
		}
		right := id != nil && r.PostFormValue("password") == password
		if !right {
			w.WriteHeader(http.StatusUnauthorized)
		}
		if right || telling {
			_ = json.NewEncoder(w).Encode(map[string]any{"id": id})
		}
	}))
	t.Cleanup(legacy.Close)
	return legacy.URL
}

func TestGuessesBehindALoginEndpointCountPerUser(t *testing.T) { // N08
	const behind = "persist_config off\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/32 ::1/128\n\t}"
	begin := func(t *testing.T, telling bool, words string) *attempts {
		t.Helper()
		text := strings.Replace(withUsers("users http $LEGACY {\n"+words+"\n}"), "persist_config off", behind, 1)
		g, _ := startSite(t, text, "$LEGACY", aliceByAnyName(t, telling))
		return newAttempts(t, g)
	}
	t.Run("N08 whose refusals say who it was", func(t *testing.T) {
		a := begin(t, true, "refused_id /id")
		for i := range 10 {
			a.refused([]string{"alice", "alice@example.com", "+1 555 0100"}[i%3], "wrong", fmt.Sprint("192.0.2.", i))
		}
		for _, name := range []string{"alice", "alice@example.com", "ALICE@example.com", "+1 555 0100"} {
			newAttempts(t, a.g).refused(name, password, "192.0.2.99")
		}
	})
	t.Run("N08 that tells with a success alone", func(t *testing.T) {
		a := begin(t, false, "")
		for _, name := range []string{"alice", "alice@example.com"} {
			if p := newAttempts(t, a.g).try(name, password, "192.0.2.99"); p.Status != http.StatusOK {
				t.Fatalf("%s: %d", name, p.Status)
			}
		}
		for i := range 10 {
			a.refused("alice", "wrong", fmt.Sprint("192.0.2.", i))
		}
		newAttempts(t, a.g).refused("alice@example.com", password, "192.0.2.99")
	})
}

// guessesInADatabase is a part of the test that has the servers.
func guessesInADatabase(t *testing.T, s *sqltest.Server) {
	t.Helper()
	s.Exec(t, "DROP TABLE IF EXISTS users")
	s.Exec(t, "CREATE TABLE users (id INT PRIMARY KEY, login VARCHAR(191), passwd CHAR(32), salt CHAR(6), name VARCHAR(100), email VARCHAR(191), blocked INT)")
	s.Exec(t, "INSERT INTO users VALUES (7, 'ann', '156013b3727fbef752c91b7896d30339', 'pepper', 'Ann Example', 'ann@example.com', 0)")
	t.Setenv("USERS_DSN", s.DSN())
	text := strings.Replace(forum, "login = $MARK", "$MARK IN (login, email)", 1)
	g := harness.Start(t, text, "$DRIVER", s.Driver, "$MARK", map[string]string{"postgres": "$1", "mysql": "?"}[s.Driver])
	address := g.ID + "/authorize?" + url.Values{
		"client_id": {"web"}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
		"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	}.Encode()
	try := func(name, pass string) int {
		b := harness.NewBrowser(t, g.ID)
		return b.Submit(b.Get(address), url.Values{"username": {name}, "password": {pass}}).Status
	}
	if status := try("ann@example.com", "correct horse"); status != http.StatusOK {
		t.Fatalf("the right password: %d", status)
	}
	for range 10 {
		if status := try("ann", "wrong horse"); status != http.StatusUnauthorized {
			t.Fatalf("a wrong password: %d", status)
		}
	}
	for _, name := range []string{"ann", "ann@example.com", "Ann@Example.com"} {
		if status := try(name, "correct horse"); status != http.StatusUnauthorized {
			t.Errorf("N08 locked as ann, %s signs in: %d", name, status)
		}
	}
}

func TestRightPasswordsDoNotCountAgainstAnAddress(t *testing.T) { // N09
	g, _ := startSite(t, behindProxy)
	a := newAttempts(t, g)
	for i := range 35 {
		if p := a.try([]string{username, "bob"}[i%2], password, "198.51.100.7"); p.Status != http.StatusOK {
			t.Fatalf("N09 sign-in %d of an office behind one address: %d", i+1, p.Status)
		}
	}
	// One's own right password buys no further guesses.
	for i := range 30 {
		a.refused(fmt.Sprint("user", i), "wrong", "198.51.100.7")
		if p := a.try("bob", password, "198.51.100.7"); i < 29 && p.Status != http.StatusOK {
			t.Fatalf("N09 after %d failures: %d", i+1, p.Status)
		}
	}
	wantPage(t, a.try("user31", "wrong", "198.51.100.7"), http.StatusTooManyRequests)
}

// N13: people type their password where the name belongs.
func TestTypedUnknownNamesAreNotLogged(t *testing.T) {
	text := strings.NewReplacer(
		"\tlog {\n\t\toutput discard\n\t}\n", "\tlog {\n\t\toutput file $DIR/default.log\n\t\tlevel DEBUG\n\t}\n"+
			"\tlog audit {\n\t\toutput file $DIR/audit.log\n\t\tinclude gatehouse.audit\n\t}\n",
		"http://$ID {\n", "http://$ID {\n\tlog\n",
	).Replace(site)
	g, _ := startSite(t, text)
	const typed = "Correct-Horse-Battery-7"
	a := newAttempts(t, g)
	for range 11 { // refused, locked out, locked
		a.refused(typed, "x", "")
	}
	a.refused("another", "x", "")
	a.refused("alice", "x", "")
	digests := map[string]map[string]bool{}
	for _, l := range lines(t, g, "audit.log", 14) {
		event, _ := l["event"].(string)
		if event != "sign_in_failed" && event != "lockout" {
			continue
		}
		if digests[event] == nil {
			digests[event] = map[string]bool{}
		}
		digests[event][fmt.Sprint(l["user"], " ", l["subject"])] = true
		if user, ok := l["user"].(string); ok && (!strings.HasPrefix(user, "hmac:") || len(user) != 21) {
			t.Errorf("N13 the user of %s is %q", event, user)
		}
	}
	if len(digests["sign_in_failed"]) != 3 || !digests["sign_in_failed"]["<nil> u-1"] || len(digests["lockout"]) != 1 {
		t.Errorf("N13 the names of the trail: %v", digests)
	}
	for name := range digests["lockout"] {
		if !digests["sign_in_failed"][name] {
			t.Errorf("N13 %s is locked and never failed: %v", name, digests)
		}
	}
	files, err := filepath.Glob(filepath.Join(g.Dir, "*log*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	_, metrics := harness.Get(t, g.Admin+"/metrics")
	texts := map[string]string{"the metrics": metrics}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	for where, text := range texts {
		if strings.Contains(strings.ToLower(text), strings.ToLower(typed[:7])) {
			t.Errorf("N13 %s has what was typed", where)
		}
	}
}
