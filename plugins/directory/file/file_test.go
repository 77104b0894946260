package file

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/directory/password"
)

// cheap is dear enough for the suite's timing to see a hash and cheap enough for a
// build machine.
var cheap = like("m=4096,t=2,p=1")

// parameters are those of the hashes of a test, as a hash that no password has.
type parameters string

func like(work string) parameters {
	zeros := func(n int) string { return strings.Repeat("A", n) }
	return parameters("$argon2id$v=19$" + work + "$" + zeros(22) + "$" + zeros(43))
}

func (p parameters) dummy() string { return string(p) }

func (p parameters) cost(t *testing.T) password.Cost {
	t.Helper()
	parsed, err := password.Parse(string(p))
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Cost()
}

func (p parameters) hash(t *testing.T, password string) string {
	t.Helper()
	// Caddy's hasher keeps the parameters and the salt of a hash that it decoded.
	h, _, err := caddyauth.DecodeHash([]byte(p))
	if err != nil {
		t.Fatal(err)
	}
	hash, err := h.Hash([]byte(password))
	if err != nil {
		t.Fatal(err)
	}
	return string(hash)
}

func document(t *testing.T, seeds ...directorytest.Seed) string {
	t.Helper()
	list := []map[string]any{}
	for _, s := range seeds {
		u := map[string]any{"id": s.ID, "username": s.Username, "password_hash": cheap.hash(t, s.Password), "locked": s.Locked}
		for field, value := range map[string]string{"name": s.Name, "nickname": s.Nickname, "picture": s.Picture, "email": s.Email, "phone": s.Phone} {
			if value != "" {
				u[field] = value
			}
		}
		if s.Claims != nil {
			u["claims"] = s.Claims
		}
		list = append(list, u)
	}
	text, err := json.MarshalIndent(map[string]any{"users": list}, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func seed(id, username, password string) directorytest.Seed {
	return directorytest.Seed{User: directory.User{ID: id, Username: username}, Password: password}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users.json")
	write(t, path, text)
	return path
}

var quiet = zap.NewNop()

func TestFileMeetsTheDirectoryContract(t *testing.T) {
	directorytest.Run(t, func(t *testing.T, users []directorytest.Seed) directory.Directory {
		c, err := loadFile(written(t, document(t, users...)), defaultMaxSize, quiet)
		if err != nil {
			t.Fatal(err)
		}
		return &dir{current: c}
	})
}

func TestUsernamesAreComparedExactly(t *testing.T) {
	c, err := loadFile(written(t, document(t, seed("1", "Ann", "secret 1"))), defaultMaxSize, quiet)
	if err != nil {
		t.Fatal(err)
	}
	d := &dir{current: c}
	for typed, want := range map[string]bool{"Ann": true, "ann": false, "ANN": false, " Ann": false, "Ann ": false} {
		if _, ok, err := d.Authenticate(t.Context(), typed, "secret 1"); ok != want || err != nil {
			t.Errorf("%q: %t, %v", typed, ok, err)
		}
	}
}

func TestClaimsAreUnchangedCopies(t *testing.T) {
	text := fmt.Sprintf(`{"users":[{"id":"1","username":"ann","password_hash":%q,
		"claims":{"number":12345678901234567,"list":["a",{"deep":true}],"nothing":null}}]}`, cheap.dummy())
	c, err := loadFile(written(t, text), defaultMaxSize, quiet)
	if err != nil {
		t.Fatal(err)
	}
	d := &dir{current: c}
	for range 2 {
		u, ok, err := d.Lookup(t.Context(), "1")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		got, err := json.Marshal(u.Claims)
		if want := `{"list":["a",{"deep":true}],"nothing":null,"number":12345678901234567}`; err != nil || string(got) != want {
			t.Fatalf("claims %s, %v, want %s", got, err, want)
		}
		u.Claims["list"].([]any)[1].(map[string]any)["deep"] = "changed by its caller"
	}
}

func TestCancelledSignInComputesNoHash(t *testing.T) {
	c, err := loadFile(written(t, document(t, seed("1", "ann", "secret 1"))), defaultMaxSize, quiet)
	if err != nil {
		t.Fatal(err)
	}
	d := &dir{current: c}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok, err := d.Authenticate(ctx, "ann", "secret 1"); ok || err == nil {
		t.Errorf("Authenticate = %t, %v, want the context's error", ok, err)
	}
}

func TestUnknownUsersCostATypicalHash(t *testing.T) {
	dearer, usual := like("m=8192,t=2,p=1"), like("m=47104,t=1,p=1")
	cases := map[string]struct {
		hashes []parameters
		want   parameters
		unlike int
	}{
		"no user":           {nil, usual, 0},
		"all the same":      {[]parameters{cheap, cheap}, cheap, 0},
		"one differs":       {[]parameters{cheap, dearer, cheap}, cheap, 1},
		"as many of either": {[]parameters{cheap, dearer}, dearer, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var list []string
			for i, p := range c.hashes {
				list = append(list, fmt.Sprintf(`{"id":"%d","username":"user%d","password_hash":%q}`, i, i, p.dummy()))
			}
			all, err := parseUsers("users.json", []byte(`{"users":[`+strings.Join(list, ",")+`]}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := all.unknown.pass.Cost(); got != c.want.cost(t) || all.unlike != c.unlike {
				t.Errorf("dummy costs %+v, %d unlike; want %s, %d", got, all.unlike, c.want, c.unlike)
			}
		})
	}
}

func TestDefaultHashParametersMatchCaddys(t *testing.T) {
	if got := parameters(caddyauth.Argon2idHash{}.FakeHash()).cost(t); got != password.Usual() {
		t.Errorf("%+v, want %+v", got, password.Usual())
	}
}

func TestForeignHashesSignTheirUsersIn(t *testing.T) {
	list := map[string]string{
		"bcrypt": "$2y$05$wwLqQF7hWgqFiIpLV6YxS.kJ2Y9sjZnolYJwrxdEInOplEmuIvlC2",
		"crypt":  "$6$saltstring$.r0X7ub5wGR2v4Xz7svCIozfnlorFh19V89t8KC9Umd81uGhFgsyTRNyzQDXDIm17fFcR9z3z7oBNdsyYBbtm/",
		"apache": "$apr1$abcdefgh$sIQmFnT1CuEXAsyjuXjUX/",
		"ldap":   "{SSHA}LhKrkM9Fy+zlstjdD7Kv2s6QvhBzYWx0",
	}
	var users []string
	for name, hash := range list {
		users = append(users, fmt.Sprintf(`{"id":%q,"username":%q,"password_hash":%q}`, name, name, hash))
	}
	c, err := loadFile(written(t, `{"users":[`+strings.Join(users, ",")+`]}`), defaultMaxSize, quiet)
	if err != nil {
		t.Fatal(err)
	}
	d := &dir{current: c}
	for name := range list {
		if u, ok, err := d.Authenticate(t.Context(), name, "correct horse"); !ok || err != nil || u.ID != name {
			t.Errorf("%s: %+v, %t, %v", name, u, ok, err)
		}
		if _, ok, err := d.Authenticate(t.Context(), name, "wrong"); ok || err != nil {
			t.Errorf("%s signs in with another password: %v", name, err)
		}
	}
	if n := d.users.Load().weak; n != 1 {
		t.Errorf("%d weak hashes, want that of LDAP", n)
	}
}
