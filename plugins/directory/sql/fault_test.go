package sql_test

import (
	"strings"
	"testing"

	sqldir "github.com/gatehouse/gatehouse/plugins/directory/sql"
	"github.com/gatehouse/gatehouse/plugins/directory/sql/sqltest"
)

// A query may convert what is in the tables, and fail at one value of them. The database says then what it says of a
// name that no row could have.
func TestUnreadableRowIsNotAWrongPassword(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		s.Exec(t, "DROP TABLE IF EXISTS odd")
		s.Exec(t, "CREATE TABLE odd (id INT PRIMARY KEY, login VARCHAR(40), passwd VARCHAR(255), meta VARCHAR(40), score VARCHAR(40), expires VARCHAR(40))")
		s.Exec(t, "INSERT INTO odd VALUES (7, 'ann', '"+cheap("correct horse")+"', 'x{', 'none', '0000-00-00')")
		mark, faults := "$1", map[string][]string{ // and the names for which they show
			"(meta::json->>'locked')::boolean AS locked": {"ann"},
			"score::int AS score":                        {"ann"},
			"expires::date < now() AS locked":            {"ann"},
		}
		if s.Driver == "mysql" {
			mark, faults = "?", map[string][]string{
				"(meta COLLATE utf8mb4_bin) = (score COLLATE utf8mb4_general_ci) AS locked": {"ann", "\u00e4nn"},
				"CONVERT(meta USING latin1) COLLATE latin1_german2_ci = '\u4e2d' AS locked": {"ann"},
			}
		}
		settings := []string{""}
		if s.Driver == "postgres" {
			settings = append(settings, "&log_parameter_max_length_on_error=-1") // lists the parameters with every error
		}
		for _, setting := range settings {
			for column, names := range faults {
				d := s.open(t, func(src *sqldir.Source) {
					t.Setenv("USERS_DSN", s.DSN()+setting)
					src.Query = "SELECT id, login AS username, passwd AS password, " + column + " FROM odd WHERE login = " + mark
					src.Lookup = "SELECT id, login AS username, " + column + " FROM odd WHERE id = " + mark
					src.Upgrade = ""
				})
				for _, name := range names {
					if id, _, err := d.Identify(t.Context(), name); err == nil {
						t.Errorf("%s%s: Identify(%s) = %q", column, setting, name, id)
					}
				}
				if _, ok, err := d.Authenticate(t.Context(), "ann", "correct horse"); ok || err == nil {
					t.Errorf("%s%s: Authenticate = %t, %v", column, setting, ok, err)
				}
				if _, ok, err := d.Lookup(t.Context(), "7"); ok || err == nil {
					t.Errorf("%s%s: Lookup = %t, %v", column, setting, ok, err)
				}
				if _, ok, err := d.Lookup(t.Context(), "seven"); s.Driver == "postgres" && (ok || err != nil) {
					t.Errorf("%s%s: Lookup of what is no number = %t, %v", column, setting, ok, err)
				}
			}
		}
	})
}

// A server that names no parameter when it cannot convert one (PostgreSQL before 14, in Spanish, and its relatives) says what
// this query does.
func TestConversionIsKnownWithoutTheNameOfAParameter(t *testing.T) {
	s, err := sqltest.PostgreSQL()
	if err != nil {
		t.Fatal(err)
	}
	const query = "SELECT 7 AS id, 'ann' AS username WHERE ($1::text)::int = 7"
	d := server{s}.open(t, func(src *sqldir.Source) { src.Query, src.Lookup, src.Upgrade, src.MaxConnections = query, query, "", 1 })
	if _, ok, err := d.Lookup(t.Context(), "7"); !ok || err != nil {
		t.Errorf("a number: %t, %v", ok, err)
	}
	if _, ok, err := d.Lookup(t.Context(), "seven"); ok || err != nil {
		t.Errorf("no number: %t, %v", ok, err)
	}
}

func TestNameOutsideTheCharacterSetIsUnknown(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		dsn := s.DSN()
		if s.Driver == "postgres" {
			s.Exec(t, "DROP DATABASE IF EXISTS latin")
			s.Exec(t, "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
			dsn = strings.Replace(dsn, "/postgres?", "/latin?", 1)
		}
		t.Setenv("LATIN_DSN", dsn)
		queries := []string{"SELECT '7' AS id, username FROM (VALUES ('ann'), (U&'\\00E4nn')) AS n(username) WHERE username = $1"}
		if s.Driver == "mysql" {
			s.Exec(t, "DROP TABLE IF EXISTS latin")
			s.Exec(t, "CREATE TABLE latin (id VARCHAR(40), login VARCHAR(40)) CHARACTER SET latin1 COLLATE latin1_swedish_ci")
			s.Exec(t, "INSERT INTO latin VALUES ('7', 'ann'), ('7', '\u00e4nn')")
			queries = nil
			for _, where := range []string{"login COLLATE latin1_german2_ci = ?", "? IN (login, id)", "? IN (login, id, login)"} {
				queries = append(queries, "SELECT id, login AS username FROM latin WHERE "+where)
			}
		}
		for _, query := range queries {
			d := s.open(t, func(src *sqldir.Source) {
				src.DSN, src.Query, src.Upgrade = "{env.LATIN_DSN}", query, ""
			})
			for _, typed := range []string{"ann", "\u00e4nn"} {
				if id, ok, err := d.Identify(t.Context(), typed); id != "7" || !ok || err != nil {
					t.Errorf("Identify(%q) = %q, %t, %v", typed, id, ok, err)
				}
			}
			for _, typed := range []string{"\U0001f600", "\u4e2d", "an\u00f1"} {
				if id, ok, err := d.Identify(t.Context(), typed); ok || err != nil {
					t.Errorf("Identify(%q) = %q, %t, %v", typed, id, ok, err)
				}
			}
		}
	})
}
