package sql_test

import (
	"testing"

	sqldir "github.com/gatehouse/gatehouse/plugins/directory/sql"
)

// PostgreSQL fills up values of such columns with spaces.
func TestColumnsOfTypeCHARHaveNoPadding(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		s.Exec(t, "DROP TABLE IF EXISTS fixed")
		s.Exec(t, "CREATE TABLE fixed (id CHAR(20) PRIMARY KEY, login CHAR(20), passwd CHAR(255), country CHAR(5))")
		s.Exec(t, "INSERT INTO fixed VALUES ('u-1', 'ann', '"+cheap("correct horse")+"', 'FI')")
		mark := "?"
		if s.Driver == "postgres" {
			mark = "$1"
		}
		d := s.open(t, func(src *sqldir.Source) {
			src.Query = "SELECT id, login AS username, passwd AS password, country FROM fixed WHERE login = " + mark
			src.Lookup = "SELECT id, login AS username, country FROM fixed WHERE id = " + mark
			src.Upgrade = ""
		})
		u, ok, err := d.Authenticate(t.Context(), "ann", "correct horse")
		if !ok || err != nil || u.ID != "u-1" || u.Username != "ann" || u.Claims["country"] != "FI" {
			t.Errorf("Authenticate = %+v, %t, %v", u, ok, err)
		}
		if u, ok, err = d.Lookup(t.Context(), "u-1"); !ok || err != nil || u.Username != "ann" {
			t.Errorf("Lookup = %+v, %t, %v", u, ok, err)
		}
	})
}
