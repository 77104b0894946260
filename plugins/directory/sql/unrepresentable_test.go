package sql_test

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/directory"
	sqldir "github.com/gatehouse/gatehouse/plugins/directory/sql"
	"github.com/gatehouse/gatehouse/plugins/directory/sql/sqltest"
)

// PostgreSQL calls functions that are not volatile as it plans a query, and they may convert what is in the tables.
func TestRowThatAFunctionCannotConvertIsAFault(t *testing.T) {
	s := onPostgreSQL(t)
	s.Exec(t, "DROP TABLE IF EXISTS expiring CASCADE")
	s.Exec(t, "CREATE TABLE expiring (id INT PRIMARY KEY, login VARCHAR(40), passwd VARCHAR(255), expires VARCHAR(40))")
	s.Exec(t, "INSERT INTO expiring VALUES (7, 'ann', '"+cheap("correct horse")+"', '0000-00-00')")
	const found = "SELECT id FROM expiring WHERE (login = name OR id::text = name) AND expires::date > now()"
	for language, body := range map[string]string{"sql": found, "plpgsql": "BEGIN RETURN (" + found + "); END"} {
		for _, volatility := range []string{"STABLE", "IMMUTABLE"} {
			s.Exec(t, "CREATE OR REPLACE FUNCTION active_id(name text) RETURNS int "+volatility+" LANGUAGE "+language+" AS $$ "+body+" $$")
			d := s.open(t, func(src *sqldir.Source) {
				src.Query = "SELECT id, login AS username, passwd AS password FROM expiring WHERE id = active_id($1)"
				src.Lookup = "SELECT id, login AS username FROM expiring WHERE id = active_id($1)"
				src.Upgrade = ""
			})
			if _, ok, err := d.Authenticate(t.Context(), "ann", "correct horse"); ok || err == nil {
				t.Errorf("%s %s: Authenticate = %t, %v", language, volatility, ok, err)
			}
			if _, ok, err := d.Lookup(t.Context(), "7"); ok || err == nil {
				t.Errorf("%s %s: Lookup = %t, %v", language, volatility, ok, err)
			}
			isUnknown(t, d, "bob")
		}
	}
}

func isUnknown(t *testing.T, d directory.Directory, names ...string) {
	t.Helper()
	for _, name := range names {
		if id, ok, err := d.Identify(t.Context(), name); ok || err != nil {
			t.Errorf("Identify(%q) = %q, %t, %v", name, id, ok, err)
		}
		if _, ok, err := d.Lookup(t.Context(), name); ok || err != nil {
			t.Errorf("Lookup(%q) = %t, %v", name, ok, err)
		}
	}
}

// settings of a DSN: PostgreSQL then lists the parameters with every error, or is told nothing of statements beforehand.
var settings = []string{"", "&log_parameter_max_length_on_error=-1", "&default_query_exec_mode=exec"}

func TestNameThatDoesNotFitTheTypeIsUnknown(t *testing.T) {
	s := onPostgreSQL(t)
	s.Exec(t, "DROP DOMAIN IF EXISTS uid")
	s.Exec(t, "CREATE DOMAIN uid AS int NOT NULL CHECK (VALUE > 0)")
	s.Exec(t, "DROP TYPE IF EXISTS \"Staff's\"")
	s.Exec(t, "CREATE TYPE \"Staff's\" AS ENUM ('ann')")
	for _, setting := range settings {
		for query, unknown := range map[string][]string{
			"SELECT 7 AS id, 'a' AS username WHERE 1 = $1::regrole":                                   {"ann", "a b", "a.b", "\"a"},
			"SELECT 7 AS id, 'a' AS username WHERE 1 = $1::regclass":                                  {"ann", "a.b", "a.b.c"},
			"SELECT 7 AS id, 'a' AS username WHERE 1 = $1::regnamespace":                              {"ann"},
			"SELECT 7 AS id, 'a' AS username WHERE 'b'::tsvector @@ $1::tsquery":                      {"ann lee", "&"},
			"SELECT 7 AS id, 'a' AS username WHERE 'a' = $1::jsonpath::text":                          {"a b"},
			"SELECT 7 AS id, '7' AS username WHERE 7 = $1::int":                                       {"ann", "8", "99999999999"},
			"SELECT 7 AS id, '7' AS username WHERE 7 = $1::uid":                                       {"ann", "8", "-5", "99999999999"},
			"SELECT 7 AS id, '07' AS username WHERE '\\x07' = $1::bytea":                              {"\\x1"},
			"SELECT 7 AS id, 'ann' AS username WHERE 'ann'::\"Staff's\" = $1::\"Staff's\"":            {"bob"},
			"SELECT 7 AS id, '2001-02-03' AS username WHERE '2001-02-03'::date = $1::date":            {"ann", "2001-02-31"},
			"SELECT 7 AS id, 'a' AS username WHERE '11111111-1111-1111-1111-111111111111'::uuid = $1": {"ann"},
		} {
			d := s.open(t, func(src *sqldir.Source) {
				t.Setenv("USERS_DSN", s.DSN()+setting)
				src.Query, src.Lookup, src.Upgrade = query, query, ""
			})
			t.Run(query+setting, func(t *testing.T) { isUnknown(t, d, unknown...) })
		}
	}
}

func TestNameThatDoesNotFitAFurtherConversionIsUnknown(t *testing.T) {
	s := onPostgreSQL(t)
	for _, setting := range settings {
		for query, unknown := range map[string][]string{
			"SELECT 7 AS id, '07' AS username WHERE '\\x07' = decode($1, 'hex')":           {"ann", "0"},
			"SELECT oid AS id, rolname AS username FROM pg_roles WHERE rolname::text ~ $1": {"(", "a{2,1}"},
			"SELECT 7 AS id, '7' AS username WHERE ($1::text)::int = 7":                    {"ann", "99999999999"},
			"SELECT 7 AS id, '7' AS username WHERE 7.5::numeric(3, 1) > $1::numeric(3, 1)": {"ann", "99999999999"},
		} {
			d := s.open(t, func(src *sqldir.Source) {
				t.Setenv("USERS_DSN", s.DSN()+setting)
				src.Query, src.Lookup, src.Upgrade = query, query, ""
			})
			t.Run(query+setting, func(t *testing.T) { isUnknown(t, d, unknown...) })
		}
	}
}

// A constant that is no value of its type is a fault, whatever the name.
func TestQueryThatNeverConvertsIsAFault(t *testing.T) {
	s := onPostgreSQL(t)
	const query = "SELECT 7 AS id, 'ann' AS username WHERE $1 = 'ann' AND decode('x' || 'y', 'hex') IS NOT NULL"
	d := s.open(t, func(src *sqldir.Source) { src.Query, src.Lookup, src.Upgrade = query, query, "" })
	if id, ok, err := d.Identify(t.Context(), "ann"); ok || err == nil {
		t.Errorf("%q, %t, %v", id, ok, err)
	}
}

// People type passwords where their name belongs, and PostgreSQL may say only a part of it, in other letter case.
func TestErrorsQuoteNothingThatWasTyped(t *testing.T) {
	s := onPostgreSQL(t)
	for _, setting := range settings {
		for query, says := range map[string]string{
			"SELECT 7 AS id, 'a' AS username WHERE ($1::text)::regrole = 1":         "SQLSTATE 42704",
			"SELECT 7 AS id, 'a' AS username WHERE ($1::text)::regclass = 1":        "SQLSTATE 42P01",
			"SELECT 7 AS id, 'a' AS username FROM nowhere WHERE $1::regrole = 1":    "nowhere",
			"SELECT 7 AS id, 'a' AS username FROM pg_authid WHERE $1::text = topic": "topic",
		} {
			d := s.open(t, func(src *sqldir.Source) {
				t.Setenv("USERS_DSN", s.DSN()+setting)
				src.Query, src.Lookup, src.Upgrade = query, query, ""
			})
			for _, name := range []string{"Hunter2", "Hunter2.Secret"} {
				_, _, err := d.Authenticate(t.Context(), name, "secret")
				if err == nil {
					t.Errorf("%s%s: no error", query, setting)
				} else if said := strings.ToLower(err.Error()); strings.Contains(said, "hunter2") || name == "Hunter2" && !strings.Contains(err.Error(), says) {
					t.Errorf("%s%s: %v", query, setting, err)
				}
			}
		}
	}
}

// MariaDB says of columns that do not fit each other what it says of a name that fits none of them.
func TestColumnsOfSeveralCollationsAreAFault(t *testing.T) {
	m, err := sqltest.MariaDB()
	if err != nil {
		t.Fatal(err)
	}
	s := server{m}
	s.Exec(t, "DROP TABLE IF EXISTS mixed")
	s.Exec(t, "CREATE TABLE mixed (id INT PRIMARY KEY, login VARCHAR(40), email VARCHAR(40) COLLATE utf8mb4_general_ci, nick VARCHAR(40)) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
	s.Exec(t, "INSERT INTO mixed VALUES (7, 'ann', 'ann@example.com', 'ann'), (8, '\u00e4nn', '', '')")
	const query = "SELECT id, login AS username FROM mixed WHERE ? IN (login, email, nick)"
	d := s.open(t, func(src *sqldir.Source) { src.Query, src.Lookup, src.Upgrade = query, query, "" })
	for _, name := range []string{"ann", "\u00e4nn", "\u4e2d"} {
		if id, ok, err := d.Identify(t.Context(), name); ok || err == nil {
			t.Errorf("Identify(%q) = %q, %t, %v", name, id, ok, err)
		}
	}
}
