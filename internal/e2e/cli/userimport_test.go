package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// hashes of the usual password, as other programs write them.
var hashes = map[string]string{
	"django":        "pbkdf2_sha256$1000$NaClNaClNaClNaCl$TaeRLo3w36B7EvYa79wxTmRpHIHNj5LwGftRAMStsq8=",
	"django_bcrypt": "bcrypt_sha256$$2b$05$abcdefghijklmnopqrstuuo5UaIBysJIH5CaMip.8XQbctZzHcXPa",
	"werkzeug":      "scrypt:1024:8:1$Salt8charsSalt16$12544c5fa603a18957e8e09d5c4bbc2f1391a24635ff0399b5650731a478e1886b63ca9012ca8639b1ccf021d7811fc2f3136d89fd284ce10c97cdf39b821661",
	"passlib":       "$pbkdf2-sha256$1000$AAECAwQFBgcICQoLDA0ODw$ppsXnjrdPB4KryJ6DrOqKqhkWrhv7PbKAMF1Eml8cZ4",
	"bcrypt":        "$2b$04$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG",
}

// writeFile writes a file to import, and returns its name.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// counts are those of a report, without the lines.
func counts(report object) string {
	return fmt.Sprint(report["created"], report["present"], report["updated"], report["refused"])
}

func TestImportedUsersSignIn(t *testing.T) {
	g := start(t)
	var table strings.Builder
	table.WriteString("id,username,password_hash,email,claims.groups\n")
	for name, hash := range hashes {
		fmt.Fprintf(&table, "legacy-%s,%s,%s,%s@example.com,\"[\"\"staff\"\"]\"\n", name, name, hash, name)
	}
	file := writeFile(t, "users.csv", table.String())
	if report := asJSON[object](t, g, "", "user", "import", file, "--dry-run"); counts(report) != "5 0 0 0" || report["dry_run"] != true {
		t.Errorf("dry run: %v", report)
	}
	if out := done(t, g, "", "user", "list"); strings.Contains(out, "legacy") {
		t.Errorf("a dry run added users: %s", out)
	}
	if report := asJSON[object](t, g, "", "user", "import", file); counts(report) != "5 0 0 0" {
		t.Errorf("%v", report)
	}
	if report := asJSON[object](t, g, table.String(), "user", "import", "-", "--input", "csv"); counts(report) != "0 5 0 0" {
		t.Errorf("a second time: %v", report)
	}
	for name := range hashes {
		access, _ := granted(t, g, harness.NewBrowser(t, g.ID), name)
		if p := g.Call(t, "GET", "/read", access); p.Status != http.StatusOK {
			t.Errorf("%s: %d", name, p.Status)
		}
		if u := asJSON[object](t, g, "", "user", "show", name); u["id"] != "legacy-"+name || u["email"] != name+"@example.com" || fmt.Sprint(u["claims"]) != "map[groups:[staff]]" {
			t.Errorf("%s: %v", name, u)
		}
	}
}

func TestImportAcceptsPlainAndMissingPasswords(t *testing.T) {
	g := start(t)
	out := done(t, g, fmt.Sprintf(`{"username":"ann","password":%q}`+"\n"+`{"username":"bob"}`+"\n", password), "user", "import", "--input", "jsonl", "--", "-")
	if !strings.Contains(out, "Created 2 users, updated 0") || strings.Contains(out, password) {
		t.Error(out)
	}
	granted(t, g, harness.NewBrowser(t, g.ID), "ann")
	b := harness.NewBrowser(t, g.ID)
	for _, tried := range []string{"", password} {
		b.Submit(b.Get(g.ID+"/account"), url.Values{"username": {"bob"}, "password": {tried}})
		if signedIn(t, g, b) {
			t.Errorf("bob has signed in with %q", tried)
		}
	}
	done(t, g, password+"\n", "user", "passwd", "bob")
	granted(t, g, harness.NewBrowser(t, g.ID), "bob")
}

func TestImportListsRefusedLinesAndKeepsTheRest(t *testing.T) {
	up := harness.NewUpstream(t)
	g := harness.Prepare(t, "$UPSTREAM", up.Addr, "$GLOBAL", "", "$GUARD", "")
	p := g.Run(t, site)
	const canary = "canary-of-a-password"
	file := writeFile(t, "users.jsonl", `{"username":"ann","password":"`+canary+`"}
{"username":"bob","password_hash":"$2b$99$`+canary+`"}
{"username":"carl","password":"`+canary[:6]+`"}
{"usrname":"`+canary+`"}
{"username":"ANN"}
{"username":"dora","email":"`+canary+`"}
{"username":"emil","id":"client:web"}
`)
	r := command(t, g, "", "user", "import", file)
	if r.code != 1 || !strings.Contains(r.err, "6 lines were refused") || !strings.Contains(r.out, "Created 1 users") {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"2     password_hash  ", "3     password  ", "4     -  ", "5     username  ", "6     email  ", "7     id  "} {
		if !strings.Contains(strings.Join(strings.Fields(r.out), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%q is not in the report: %s", want, r.out)
		}
	}
	again := command(t, g, "", "user", "import", file, "--format", "json")
	if again.code != 1 || !strings.Contains(again.out, `"present": 1`) || !strings.Contains(again.err, `"lines_refused"`) {
		t.Errorf("%+v", again)
	}
	p.Stop()
	if all := r.out + r.err + again.out + again.err + p.Output(); strings.Contains(all, canary) || !strings.Contains(all, `"user_changed"`) {
		t.Error("a password is printed or logged, or the audit trail has no user")
	}
	for _, words := range [][]string{{file, "--input", "text"}, {filepath.Join(filepath.Dir(file), "none.csv")}, {"-"}, {}} {
		if r := command(t, g, "", append([]string{"user", "import"}, words...)...); r.code != 1 {
			t.Errorf("%v: %+v", words, r)
		}
	}
}

// An import is like `user lock` for those whom it locks: what they had is over.
func TestImportUpdatesAndLocksUsers(t *testing.T) {
	g := start(t)
	id := addUser(t, g)
	b := harness.NewBrowser(t, g.ID)
	access, _ := granted(t, g, b, "alice")
	const text = "username,phone,locked,password_hash\nalice,+1,true,%s\n"
	file := writeFile(t, "users.csv", fmt.Sprintf(text, hashes["bcrypt"]))
	if report := asJSON[object](t, g, "", "user", "import", file); counts(report) != "0 1 0 0" || !signedIn(t, g, b) {
		t.Errorf("without --update: %v", report)
	}
	if report := asJSON[object](t, g, "", "user", "import", file, "--update"); counts(report) != "0 0 1 0" {
		t.Errorf("%v", report)
	}
	if u := asJSON[object](t, g, "", "user", "show", "alice"); u["id"] != id || u["locked"] != true || u["phone"] != "+1" || u["name"] != "Alice" {
		t.Errorf("%v", u)
	}
	if signedIn(t, g, b) || g.Call(t, "GET", "/read", access).Status != http.StatusUnauthorized {
		t.Error("the user is locked and still signed in")
	}
}

func TestAdminImportIsLimited(t *testing.T) {
	g := start(t)
	user := func(n int) string { return strings.TrimSuffix(strings.Repeat(`{"username":"x"},`, n), ",") }
	for body, want := range map[string]int{
		`{"users":[]}`:                                         http.StatusBadRequest,
		`{"users":[` + user(501) + `]}`:                        http.StatusBadRequest,
		`{"users":[{"username":"x","role":"admin"}]}`:          http.StatusBadRequest,
		`{"users":["` + strings.Repeat("x", 64<<10) + `"]}`:    http.StatusRequestEntityTooLarge,
		`{"dry_run":true,"users":[` + user(500) + `]}`:         http.StatusOK,
		`{"users":[{"username":"import"},{"username":"bob"}]}`: http.StatusOK,
	} {
		if p := call(t, g, "POST", "import/users", body); p.Status != want {
			t.Errorf("%.60s: %d %.200s", body, p.Status, p.Body)
		}
	}
	if p := call(t, g, "GET", "users/import", ""); p.Status != http.StatusOK { // a user called like that
		t.Errorf("%d %s", p.Status, p.Body)
	}
}

// Twice as many users as fit into one request, of which the gateway has the first half already.
func TestInterruptedImportCanBeRepeated(t *testing.T) {
	g := start(t)
	row := func(i int) string { return fmt.Sprintf("legacy-%d,user%d,%s\n", i, i, hashes["bcrypt"]) }
	var half, all strings.Builder
	half.WriteString("id,username,password_hash\n")
	all.WriteString("id,username,password_hash\n")
	for i := range 1000 {
		all.WriteString(row(i))
		if i < 500 {
			half.WriteString(row(i))
		}
	}
	if report := asJSON[object](t, g, "", "user", "import", writeFile(t, "half.csv", half.String())); counts(report) != "500 0 0 0" {
		t.Errorf("%v", report)
	}
	if report := asJSON[object](t, g, "", "user", "import", writeFile(t, "all.csv", all.String())); counts(report) != "500 500 0 0" || report["done_up_to_line"] != 1001.0 {
		t.Errorf("%v", report)
	}
}
