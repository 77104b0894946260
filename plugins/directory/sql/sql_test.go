package sql_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	sqldir "github.com/gatehouse/gatehouse/plugins/directory/sql"
	"github.com/gatehouse/gatehouse/plugins/directory/sql/sqltest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	sqltest.StopAll()
	os.Exit(code)
}

// server has the users of the tests.
type server struct{ *sqltest.Server }

func both(t *testing.T, test func(t *testing.T, s server)) {
	sqltest.Both(t, func(t *testing.T, s *sqltest.Server) { test(t, server{s}) })
}

// table is the users' table of a program that has never heard of tokens.
func (s server) table(t testing.TB) {
	t.Helper()
	s.Exec(t, "DROP TABLE IF EXISTS users")
	s.Exec(t, `CREATE TABLE users (id VARCHAR(40) PRIMARY KEY, login VARCHAR(191) UNIQUE, passwd VARCHAR(255), salt VARCHAR(40),
		name VARCHAR(100), nick VARCHAR(100), avatar VARCHAR(200), email VARCHAR(191), phone VARCHAR(40), blocked INT, department VARCHAR(40))`)
}

func (s server) insert(t testing.TB, u directory.User, hash, salt string) {
	t.Helper()
	places := strings.TrimSuffix(strings.Repeat("?,", 11), ",")
	if s.Driver == "postgres" {
		places = "$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11"
	}
	null := func(v string) any {
		if v == "" {
			return nil
		}
		return v
	}
	locked := 0
	if u.Locked {
		locked = 1
	}
	department, _ := u.Claims["department"].(string)
	s.Exec(t, "INSERT INTO users VALUES ("+places+")", u.ID, norm.NFC.String(u.Username), null(hash), null(salt), null(u.Name), null(u.Nickname),
		null(u.Picture), null(u.Email), null(u.Phone), locked, null(department))
}

const columns = "id, login AS username, passwd AS password, salt, name, nick AS nickname, avatar AS picture, email, phone, blocked AS locked, department"

// source is the configuration for that table; change may alter it.
func (s server) source(t testing.TB, change func(*sqldir.Source)) *sqldir.Source {
	t.Helper()
	t.Setenv("USERS_DSN", s.DSN())
	first, second := "?", "?"
	if s.Driver == "postgres" {
		first, second = "$1", "$2"
	}
	src := &sqldir.Source{
		Driver: s.Driver, DSN: "{env.USERS_DSN}", Dummy: cheap("nobody's"),
		Query:   "SELECT " + columns + " FROM users WHERE login = " + first,
		Lookup:  "SELECT " + columns + " FROM users WHERE id = " + first,
		Upgrade: "UPDATE users SET passwd = " + first + " WHERE id = " + second,
	}
	if change != nil {
		change(src)
	}
	return src
}

func (s server) open(t testing.TB, change func(*sqldir.Source)) directory.Directory {
	t.Helper()
	src := s.source(t, change)
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	if err := src.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	d, err := src.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.(io.Closer).Close() })
	return d
}

// cheap is an Argon2id hash that costs a build machine little.
func cheap(pass string) string {
	salt, b64 := []byte("a salt of a test"), base64.RawStdEncoding.EncodeToString
	return "$argon2id$v=19$m=4096,t=2,p=1$" + b64(salt) + "$" + b64(argon2.IDKey([]byte(norm.NFC.String(pass)), salt, 2, 4096, 1, 32))
}

func TestDatabaseMeetsTheDirectoryContract(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		directorytest.Run(t, func(t *testing.T, users []directorytest.Seed) directory.Directory {
			s.table(t)
			for _, u := range users {
				s.insert(t, u.User, cheap(u.Password), "")
			}
			return s.open(t, func(src *sqldir.Source) { src.Upgrade = "" })
		})
	})
}

// kept is a hash as shops have them.
type kept struct{ hash, salt string }

var shop = map[string]kept{
	"bcrypt":    {"$2y$05$wwLqQF7hWgqFiIpLV6YxS.kJ2Y9sjZnolYJwrxdEInOplEmuIvlC2", ""},
	"argon2id":  {"$argon2id$v=19$m=1024,t=2,p=1$d3pmVlRnbzRPbFIuOTAyVg$tdh0CcdB7kb6cYZGOB1vK4veK9Yr0fuxCtvjc50wkJA", ""},
	"wordpress": {"$wp$2y$05$LHC/dXFIbaEhOgQy6qovSO1J.ZwQp9wGaSZrAYp8M9akfseEgUzK2", ""},
	"crypt":     {"$6$saltstring$.r0X7ub5wGR2v4Xz7svCIozfnlorFh19V89t8KC9Umd81uGhFgsyTRNyzQDXDIm17fFcR9z3z7oBNdsyYBbtm/", ""},
	"ldap":      {"{SSHA}LhKrkM9Fy+zlstjdD7Kv2s6QvhBzYWx0", ""},
	"md5":       {"52f36768c11844771e5f7ff576e2dba2", "pepper"},
	"phpass":    {"$P$984478476IagS59wHZvyQMArzfx58u.", ""},
}

func (k kept) password() string {
	if strings.HasPrefix(k.hash, "$P$") {
		return "hashcat"
	}
	return "correct horse"
}

func TestOldHashIsUpgradedAtSignIn(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		s.table(t)
		names := []string{"bcrypt", "md5", "phpass"}
		if s.Driver == "postgres" {
			names = []string{"argon2id", "wordpress", "crypt", "ldap", "md5"}
		}
		for name, kept := range shop {
			s.insert(t, directory.User{ID: "7-" + name, Username: name}, kept.hash, kept.salt)
		}
		d := s.open(t, func(src *sqldir.Source) { src.Scheme = "md5(salt+password)" })
		for _, name := range names {
			hash := func() string { return s.Scalar(t, "SELECT passwd FROM users WHERE login = '"+name+"'") }
			signIn(t, d, name, "wrong horse", false)
			if hash() != shop[name].hash {
				t.Errorf("%s: a wrong password changed the hash", name)
			}
			signIn(t, d, name, shop[name].password(), true)
			after := hash()
			if !strings.HasPrefix(after, "$argon2id$v=19$m=47104,t=1,p=1$") {
				t.Errorf("%s: the hash is now %.12s...", name, after)
			}
			signIn(t, d, name, shop[name].password(), true)
			signIn(t, d, name, "wrong horse", false)
			if hash() != after {
				t.Errorf("%s: the second sign-in wrote again", name)
			}
		}
	})
}

func TestBcryptIsWrittenWhereConfigured(t *testing.T) {
	one, err := sqltest.PostgreSQL()
	if err != nil {
		t.Fatal(err)
	}
	s := server{one}
	s.table(t)
	s.insert(t, directory.User{ID: "1", Username: "ann"}, shop["crypt"].hash, "")
	s.insert(t, directory.User{ID: "2", Username: "lena"}, cheap(strings.Repeat("long", 19)), "")
	d := s.open(t, func(src *sqldir.Source) { src.UpgradeTo = "bcrypt" })
	signIn(t, d, "ann", "correct horse", true)
	after := s.Scalar(t, "SELECT passwd FROM users WHERE id = '1'")
	if !strings.HasPrefix(after, "$2y$12$") {
		t.Errorf("the hash is now %.12s...", after)
	}
	// 76 bytes would be cut to 72.
	signIn(t, d, "lena", strings.Repeat("long", 19), true)
	if now := s.Scalar(t, "SELECT passwd FROM users WHERE id = '2'"); !strings.HasPrefix(now, "$argon2id$") {
		t.Errorf("a long password's hash is now %.12s...", now)
	}
}

func signIn(t *testing.T, d directory.Directory, name, pass string, want bool) directory.User {
	t.Helper()
	u, ok, err := d.Authenticate(t.Context(), name, pass)
	if err != nil || ok != want {
		t.Errorf("Authenticate(%q) = %t, %v, want %t", name, ok, err, want)
	}
	return u
}

func TestUpgradedHashThatDoesNotFitKeepsTheOldOne(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		engines := []string{""}
		if s.Driver == "mysql" {
			engines = []string{" ENGINE=InnoDB", " ENGINE=MyISAM"} // the second has no transactions
		}
		for _, engine := range engines {
			t.Run(engine, func(t *testing.T) {
				const old = "$1$abcdefgh$y6iHhJNbuC0xpbk0w9pm80"
				s.Exec(t, "DROP TABLE IF EXISTS narrow")
				s.Exec(t, "CREATE TABLE narrow (id INT PRIMARY KEY, login VARCHAR(40), passwd VARCHAR(60))"+engine)
				s.Exec(t, "INSERT INTO narrow VALUES (1, 'ann', '"+old+"'), (2, 'bob', '"+old+"')")
				first, second, dsn := "$1", "$2", s.DSN()
				if s.Driver == "mysql" {
					first, second = "?", "?"
					dsn += "?sql_mode=''" // as many old servers are: it cuts short without an error
				}
				with := func(upgrade string) directory.Directory {
					return s.open(t, func(src *sqldir.Source) {
						t.Setenv("USERS_DSN", dsn)
						src.Query = "SELECT id, login AS username, passwd AS password FROM narrow WHERE login = " + first
						src.Upgrade = upgrade
					})
				}
				d := with("UPDATE narrow SET passwd = " + first + " WHERE id = " + second)
				signIn(t, d, "ann", "correct horse", true)
				signIn(t, d, "ann", "correct horse", true)
				if strings.Contains(engine, "MyISAM") {
					return // what hits all rows cannot be taken back there
				}
				all := with("UPDATE narrow SET passwd = SUBSTRING(" + first + ", 1, 50) WHERE login <> " + second)
				signIn(t, all, "ann", "correct horse", true)
				for _, id := range []string{"1", "2"} {
					if got := s.Scalar(t, "SELECT passwd FROM narrow WHERE id = "+id); got != old {
						t.Errorf("the hash of %s is %q", id, got)
					}
				}
			})
		}
	})
}

func TestNumericIDsAreLookedUpExactly(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		s.Exec(t, "DROP TABLE IF EXISTS numbered")
		s.Exec(t, "CREATE TABLE numbered (id INT PRIMARY KEY, login VARCHAR(40), passwd VARCHAR(255), active BOOLEAN, score INT, born TIMESTAMP NULL)")
		s.Exec(t, "INSERT INTO numbered VALUES (7, 'ann', '"+cheap("correct horse")+"', TRUE, 42, '2001-02-03 04:05:06'), (0, 'zero', NULL, TRUE, NULL, NULL)")
		mark := map[string]string{"postgres": "$1", "mysql": "?"}[s.Driver]
		d := s.open(t, func(src *sqldir.Source) {
			src.Query = "SELECT id, login AS username, passwd AS password, active IS NOT TRUE AS locked, score, born FROM numbered WHERE login = " + mark
			src.Lookup = "SELECT id, login AS username, score, born FROM numbered WHERE id = " + mark
			src.Upgrade = ""
		})
		u := signIn(t, d, "ann", "correct horse", true)
		if u.ID != "7" || u.Claims["score"] != int64(42) || u.Claims["born"] != "2001-02-03T04:05:06Z" {
			t.Errorf("%+v", u)
		}
		if u, ok, err := d.Lookup(t.Context(), "7"); !ok || err != nil || u.Username != "ann" {
			t.Errorf("Lookup = %+v, %t, %v", u, ok, err)
		}
		for _, id := range []string{"7x", " 7", "07", "7.0", "u-ann", "0x7", "99999999999999999999", "7 OR 1=1", "-", "\u0667"} {
			if u, ok, err := d.Lookup(t.Context(), id); ok || err != nil || u.ID != "" {
				t.Errorf("Lookup(%q) = %+v, %t, %v", id, u, ok, err)
			}
		}
		signIn(t, d, "zero", "", false)
		signIn(t, d, "zero", "anything", false)
		for _, active := range []string{"FALSE", "NULL"} {
			s.Exec(t, "UPDATE numbered SET active = "+active)
			signIn(t, d, "ann", "correct horse", false)
		}
	})
}

func TestUsernameCannotInjectSQL(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		s.table(t)
		s.insert(t, directory.User{ID: "1", Username: "ann"}, cheap("correct horse"), "")
		d := s.open(t, nil)
		for _, typed := range []string{
			"' OR '1'='1", "ann' --", "ann'; DROP TABLE users; --", `ann" OR ""="`, `ann\' OR 1=1 -- `, "ann' UNION SELECT 'x','ann','','','','','','','',0,'' -- ",
			"$1", "?", "%", "_nn", "ann\\", "0", "a' || 'nn", "'; SELECT pg_sleep(10); --", "ann'#", "\u02bc OR 1=1", "an\u00f1", "\u00e1nn", "ann ",
			strings.Repeat("'", 250), "\U0001f600", "ann/**/", "\xbf' OR 1=1 -- ",
		} {
			begun := time.Now()
			if u, ok, err := d.Authenticate(t.Context(), typed, "correct horse"); ok || err != nil {
				t.Errorf("%q signs in as %+v, %v", typed, u, err)
			}
			if _, ok, err := d.Lookup(t.Context(), typed); ok || err != nil {
				t.Errorf("Lookup(%q) = %t, %v", typed, ok, err)
			}
			if time.Since(begun) > 8*time.Second {
				t.Errorf("%q slept", typed)
			}
		}
		signIn(t, d, "ann", "correct horse", true)
	})
}

func TestQueryErrorsNameNoValues(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		s.table(t)
		s.insert(t, directory.User{ID: "1", Username: "ann", Email: "family@example.com", Name: "canary-name"}, "canary-hash", "")
		s.insert(t, directory.User{ID: "2", Username: "bob", Email: "family@example.com"}, cheap("correct horse"), "")
		mark := map[string]string{"postgres": "$1", "mysql": "?"}[s.Driver]
		cases := map[string]struct{ query, typed, want string }{
			"more than one row":       {"SELECT id, login AS username, passwd AS password, email FROM users WHERE email = " + mark, "family@example.com", "more than one row"},
			"no such table":           {"SELECT id, login AS username FROM customers WHERE login = " + mark, "ann", "customers"},
			"no such column":          {"SELECT id, username FROM users WHERE login = " + mark, "ann", "username"},
			"a syntax error":          {"SELECT id, login AS username FRM users WHERE login = " + mark, "ann", "database says"},
			"no id":                   {"SELECT login AS username FROM users WHERE login = " + mark, "ann", `no column "id"`},
			"no username":             {"SELECT id FROM users WHERE login = " + mark, "ann", `no column "username"`},
			"a name twice":            {"SELECT id, login AS username, name, nick AS name FROM users WHERE login = " + mark, "ann", `"name" is given twice`},
			"a secret for a claim":    {"SELECT id, login AS username, passwd FROM users WHERE login = " + mark, "ann", "looks like a secret"},
			"a text for locked":       {"SELECT id, login AS username, name AS locked FROM users WHERE login = " + mark, "ann", `"locked" must be true or false`},
			"a client's id":           {"SELECT 'client:web' AS id, login AS username FROM users WHERE login = " + mark, "ann", "kept for clients"},
			"an id with a line break": {"SELECT 'a\nb' AS id, login AS username FROM users WHERE login = " + mark, "ann", "printable ASCII"},
		}
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				d := s.open(t, func(src *sqldir.Source) { src.Query = c.query })
				_, ok, err := d.Authenticate(t.Context(), c.typed, "correct horse")
				if ok || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
					t.Errorf("%t, %v, want %q", ok, err, c.want)
				}
			})
		}
		t.Run("a query that writes", func(t *testing.T) {
			if s.Driver != "postgres" {
				return // MySQL has no query that writes and returns rows
			}
			d := s.open(t, func(src *sqldir.Source) {
				src.Query = "UPDATE users SET name = 'changed' WHERE login = $1 RETURNING id, login AS username"
			})
			if _, ok, err := d.Authenticate(t.Context(), "ann", "x"); ok || err == nil || !strings.Contains(err.Error(), "read-only") {
				t.Errorf("%t, %v", ok, err)
			}
		})
		t.Run("a hash of no known form", func(t *testing.T) {
			signIn(t, s.open(t, nil), "ann", "canary-hash", false)
		})
	})
}

func TestDatabaseOutageIsAnErrorUntilItIsBack(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		s.table(t)
		s.insert(t, directory.User{ID: "1", Username: "ann"}, cheap("correct horse"), "")
		d := s.open(t, func(src *sqldir.Source) { src.Upgrade = "" })
		signIn(t, d, "ann", "correct horse", true)
		s.Stop()
		for range 2 {
			begun := time.Now()
			_, ok, err := d.Authenticate(t.Context(), "ann", "correct horse")
			_, found, lookup := d.Lookup(t.Context(), "1")
			if ok || err == nil || found || lookup == nil {
				t.Errorf("Authenticate = %t, %v; Lookup = %t, %v", ok, err, found, lookup)
			}
			if strings.Contains(fmt.Sprint(err, lookup), sqltest.Password) {
				t.Errorf("the error has the password in it: %v", err)
			}
			if time.Since(begun) > 7*time.Second {
				t.Errorf("it took %v", time.Since(begun))
			}
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		signIn(t, d, "ann", "correct horse", true)
		// A restart between two sign-ins goes unnoticed.
		s.Stop()
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		signIn(t, d, "ann", "correct horse", true)
	})
}

func TestQueryEndsOnTimeoutOrCancellation(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		s.table(t)
		slow := map[string]string{
			"postgres": "SELECT 'a' AS id, 'b' AS username FROM pg_sleep(30) WHERE $1 <> ''",
			"mysql":    "SELECT SLEEP(30) AS id, 'b' AS username FROM DUAL WHERE ? <> ''",
		}[s.Driver]
		d := s.open(t, func(src *sqldir.Source) { src.Lookup = slow; src.Timeout = caddy.Duration(300 * time.Millisecond) })
		begun := time.Now()
		if _, ok, err := d.Lookup(t.Context(), "1"); ok || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 3*time.Second {
			t.Errorf("%t, %v after %v", ok, err, time.Since(begun))
		}
		patient := s.open(t, func(src *sqldir.Source) { src.Lookup = slow; src.Timeout = caddy.Duration(20 * time.Second) })
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		begun = time.Now()
		if _, ok, err := patient.Lookup(ctx, "1"); ok || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 3*time.Second {
			t.Errorf("%t, %v after %v", ok, err, time.Since(begun))
		}
		done, stop := context.WithCancel(t.Context())
		stop()
		if _, ok, err := d.Authenticate(done, "ann", "x"); ok || !errors.Is(err, context.Canceled) {
			t.Errorf("%t, %v", ok, err)
		}
	})
}

// N17: sign-ins that are given up leave no queries behind that the database goes on with, on
// more connections than there may be.
func TestAbandonedQueriesAreCancelled(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		s.table(t)
		s.insert(t, directory.User{ID: "1", Username: "ann"}, "", "")
		endless := map[string]string{
			"postgres": "SELECT id, login AS username FROM users WHERE id = $1 AND (SELECT count(*) FROM generate_series(1, 1000000000000)) = 0",
			"mysql":    "SELECT id, login AS username FROM users WHERE id = ? AND BENCHMARK(10000000000, MD5(login)) = 1",
		}[s.Driver]
		running := map[string]string{
			"postgres": "SELECT count(*)::text FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%1000000000000%' AND pid <> pg_backend_pid()",
			"mysql":    "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%BENCHMARK%' AND id <> CONNECTION_ID()",
		}[s.Driver]
		d := s.open(t, func(src *sqldir.Source) { src.Lookup = endless; src.Timeout = caddy.Duration(500 * time.Millisecond) })
		for range 3 {
			if _, ok, err := d.Lookup(t.Context(), "1"); ok || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("N17 %t, %v", ok, err)
			}
		}
		for end := time.Now().Add(30 * time.Second); s.Scalar(t, running) != "0"; time.Sleep(100 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("N17 %s queries run on", s.Scalar(t, running))
			}
		}
	})
}

func TestWrongDatabasePasswordIsNotShown(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		wrong := strings.Replace(s.DSN(), sqltest.Password, "canary-wrong", 1)
		d := s.open(t, func(*sqldir.Source) { t.Setenv("USERS_DSN", wrong) })
		_, ok, err := d.Authenticate(t.Context(), "ann", "x")
		if ok || err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "shop") {
			t.Errorf("%t, %v", ok, err)
		}
	})
}

// slowHash is phpass of 2^19 rounds over "correct horse": time enough for somebody else.
const slowHash = "$P$HsaltsaltU/Wic5CEN.rQSfhqcaDE11"

func TestPasswordChangedDuringSignInIsKept(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		d := s.open(t, nil)
		other := cheap("a newer password")
		for wait := 50 * time.Millisecond; ; wait *= 2 {
			s.table(t)
			s.insert(t, directory.User{ID: "1", Username: "ann"}, slowHash, "")
			var signedIn bool
			done := make(chan error)
			go func() {
				_, ok, err := d.Authenticate(context.Background(), "ann", "correct horse")
				signedIn = ok
				done <- err
			}()
			time.Sleep(wait) // the row was read, and its hash is being computed
			s.Exec(t, "UPDATE users SET passwd = '"+other+"'")
			select {
			case <-done: // too early for the read, or too late for the rest
				if wait > time.Second {
					t.Fatal("the moment between could not be hit")
				}
				continue
			default:
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if !signedIn {
				continue // changed before the row was read
			}
			if got := s.Scalar(t, "SELECT passwd FROM users WHERE id = '1'"); got != other {
				t.Errorf("the hash is %.12s..., the change is lost", got)
			}
			return
		}
	})
}

func TestConnectionsEndedByTheServerAreReplaced(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		s.table(t)
		s.insert(t, directory.User{ID: "1", Username: "ann"}, "", "")
		own, end, mark := "pg_backend_pid()", "SELECT pg_terminate_backend(%v)", "$1"
		if s.Driver == "mysql" {
			own, end, mark = "CONNECTION_ID()", "KILL %v", "?"
		}
		d := s.open(t, func(src *sqldir.Source) {
			src.Lookup = "SELECT id, login AS username, " + own + " AS connection FROM users WHERE id = " + mark
		})
		for range 3 {
			u, ok, err := d.Lookup(t.Context(), "1")
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			s.Exec(t, fmt.Sprintf(end, u.Claims["connection"]))
		}
		if _, ok, err := d.Lookup(t.Context(), "1"); !ok || err != nil {
			t.Error(ok, err)
		}
	})
}
