package sql

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/directory/password"
	"github.com/gatehouse/gatehouse/plugins/internal/words/wordstest"
)

const (
	pgDSN    = "postgres://shop:canary@127.0.0.1:1/shop"
	mysqlDSN = "shop:canary@tcp(127.0.0.1:1)/shop"
	pgQuery  = "SELECT id, login AS username FROM users WHERE login = $1"
	myQuery  = "SELECT id, login AS username FROM users WHERE login = ?"
)

func loaded(t *testing.T, config map[string]any) (*Source, error) {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	t.Cleanup(cancel)
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ctx.LoadModuleByID("gatehouse.directories.sql", text)
	if err != nil {
		return nil, err
	}
	return m.(*Source), nil
}

func config(more map[string]any) map[string]any {
	all := map[string]any{"driver": "postgres", "dsn": "{env.GATEHOUSE_TEST_DSN}", "query": pgQuery, "lookup": pgQuery}
	for name, value := range more {
		all[name] = value
	}
	return all
}

func TestConfigErrorsFailTheLoadWithoutLeakingTheDSN(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_DSN", pgDSN)
	t.Setenv("GATEHOUSE_TEST_MYSQL", mysqlDSN)
	t.Setenv("GATEHOUSE_TEST_BAD", "postgres://shop:canary@127.0.0.1:port/shop")
	t.Setenv("GATEHOUSE_TEST_SIMPLE", pgDSN+"?default_query_exec_mode=simple_protocol")
	cases := map[string]struct {
		more map[string]any
		want string
	}{
		"no driver":             {map[string]any{"driver": ""}, "expected postgres or mysql"},
		"another driver":        {map[string]any{"driver": "sqlite"}, "expected postgres or mysql"},
		"a literal DSN":         {map[string]any{"dsn": pgDSN}, "expected a placeholder"},
		"an unset placeholder":  {map[string]any{"dsn": "{env.GATEHOUSE_TEST_UNSET}"}, "GATEHOUSE_TEST_UNSET"},
		"a DSN of nothing":      {map[string]any{"dsn": "{env.GATEHOUSE_TEST_BAD}"}, "not understood"},
		"another driver's DSN":  {map[string]any{"driver": "mysql", "query": myQuery, "lookup": myQuery}, "not understood"},
		"parameters as text":    {map[string]any{"dsn": "{env.GATEHOUSE_TEST_SIMPLE}"}, "puts parameters into the text"},
		"no query":              {map[string]any{"query": ""}, "query: required"},
		"no lookup":             {map[string]any{"lookup": ""}, "lookup: required"},
		"no parameter":          {map[string]any{"query": "SELECT id FROM users"}, "query: expected `$1`"},
		"two parameters":        {map[string]any{"query": pgQuery + " OR email = $2"}, "no other parameter"},
		"MySQL's parameter":     {map[string]any{"query": myQuery}, "query: expected `$1`"},
		"every column":          {map[string]any{"query": "SELECT * FROM users WHERE login = $1"}, "name the columns"},
		"every column of one":   {map[string]any{"query": "SELECT id, u.* FROM users u WHERE login = $1"}, "name the columns"},
		"every column, split":   {map[string]any{"lookup": "select  distinct\n*\nfrom users where id = $1"}, "name the columns"},
		"an upgrade of one":     {map[string]any{"upgrade": "UPDATE users SET password = $1"}, "`$2` for the id"},
		"no such upgrade":       {map[string]any{"upgrade": "UPDATE users SET p = $1 WHERE id = $2", "upgrade_to": "md5"}, "argon2id or bcrypt"},
		"upgrade_to alone":      {map[string]any{"upgrade_to": "bcrypt"}, "there is no upgrade"},
		"no scheme":             {map[string]any{"scheme": "rot13(password)"}, "scheme: expected a digest"},
		"no dummy":              {map[string]any{"dummy": "canary"}, "dummy: is not a password hash"},
		"too many connections":  {map[string]any{"max_connections": 101}, "from 1 to 100"},
		"negative connections":  {map[string]any{"max_connections": -1}, "from 1 to 100"},
		"a timeout of an hour":  {map[string]any{"timeout": "1h"}, "at most 1m0s"},
		"an unknown field":      {map[string]any{"password": "x"}, "password"},
		"no hash in an upgrade": {map[string]any{"driver": "mysql", "dsn": "{env.GATEHOUSE_TEST_MYSQL}", "query": myQuery, "lookup": myQuery, "upgrade": "UPDATE users SET x = ?"}, "two `?`"},
	}
	for name, c := range cases {
		_, err := loaded(t, config(c.more))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "canary") && name != "a literal DSN" {
			t.Errorf("%s: the error tells of the DSN: %v", name, err)
		}
	}
	for _, good := range []string{
		"SELECT id, count(*) AS visits, login AS username FROM users WHERE login = $1 GROUP BY id",
		"SELECT id, 2 * price AS price, login AS username FROM users WHERE login = $1 OR email = $1",
	} {
		if _, err := loaded(t, config(map[string]any{"query": good})); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

func TestOneDatabaseHasOneIdentity(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_DSN", pgDSN)
	t.Setenv("GATEHOUSE_TEST_SAME", pgDSN)
	t.Setenv("GATEHOUSE_TEST_OTHER", pgDSN+"2")
	identity := func(more map[string]any) any {
		s, err := loaded(t, config(more))
		if err != nil {
			t.Fatal(err)
		}
		return s.Identity()
	}
	first := identity(nil)
	if identity(map[string]any{"dsn": "{env.GATEHOUSE_TEST_SAME}", "max_connections": 4, "timeout": "3s"}) != first {
		t.Error("the same database has two identities")
	}
	for name, more := range map[string]map[string]any{
		"another DSN": {"dsn": "{env.GATEHOUSE_TEST_OTHER}"}, "another query": {"query": pgQuery + " AND active"}, "a scheme": {"scheme": "md5"},
		"an upgrade": {"upgrade": "UPDATE users SET p = $1 WHERE id = $2"}, "more connections": {"max_connections": 5}, "a dummy": {"dummy": password.Usual().Dummy()},
	} {
		if identity(more) == first {
			t.Errorf("%s makes no other identity", name)
		}
	}
}

func TestCaddyfileHasADirectiveForEachField(t *testing.T) {
	block := func(lines string) string { return "sql postgres {\n" + lines + "\n}" }
	const required = "dsn {env.USERS_DSN}\nquery \"SELECT 1 WHERE $1\"\nlookup \"SELECT 2 WHERE $1\"\n"
	var s Source
	err := s.UnmarshalCaddyfile(caddyfile.NewTestDispenser(block(required + "scheme md5(salt+password)\nupgrade \"UPDATE $1 $2\"\nupgrade_to bcrypt\ndummy $2y$10$x\nmax_connections 7\ntimeout 2s")))
	text, _ := json.Marshal(s)
	want := `{"driver":"postgres","dsn":"{env.USERS_DSN}","query":"SELECT 1 WHERE $1","lookup":"SELECT 2 WHERE $1","scheme":"md5(salt+password)","upgrade":"UPDATE $1 $2","upgrade_to":"bcrypt","dummy":"$2y$10$x","max_connections":7,"timeout":2000000000}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v\nwant %s", text, err, want)
	}
	wordstest.Mistakes[Source](t, map[string]string{
		"sql":                         "expected `sql postgres` or `sql mysql`",
		"sql sqlite {\n}":             "expected `sql postgres` or `sql mysql`",
		"sql mysql":                   "dsn is missing",
		block("dsn {env.X}\nquery a"): "lookup is missing",
		block("dsn postgres://shop:" + wordstest.Secret + "@db/shop"): "expected a placeholder",
		block(required + "query b"):                                   "query is given twice",
		block("table users"):                                          "unrecognized word 'table'",
		block("query SELECT id"):                                      "query: expected one value, in quotes",
		block("query"):                                                "query: expected one value",
		block("timeout soon"):                                         "timeout: invalid duration 'soon'",
		block("max_connections 0"):                                    "whole number from 1",
		block("timeout -1s"):                                          "timeout: invalid duration",
	})
}
