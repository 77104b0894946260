package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
)

const (
	idleTime   = 5 * time.Minute
	maxColumns = 64
	maxText    = 16 << 10 // bytes of one value
)

// row is what a query said about one user.
type row struct {
	user       directory.User
	hash, salt string
	// asked is the parameter that found it.
	asked string
}

// readRow asks for one row; nil is none.
func (d *dir) readRow(ctx context.Context, query, parameter string) (*row, error) {
	ctx, cancel := context.WithTimeout(ctx, d.s.timeout)
	defer cancel()
	r, err := d.ask(ctx, query, parameter)
	switch {
	case err == nil:
		return r, nil
	case d.isUnrepresentable(ctx, err, query, parameter):
		return nil, nil
	}
	return nil, queryError(ctx, d.withoutParameter(ctx, err, query))
}

// ask asks for one row, in a transaction that may not write.
func (d *dir) ask(ctx context.Context, query, parameter string) (*row, error) {
	tx, err := d.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	return onlyRow(ctx, tx, query, parameter)
}

// onlyRow returns the only row of a query, or nil.
func onlyRow(ctx context.Context, tx *sql.Tx, query, parameter string) (*row, error) {
	rows, err := tx.QueryContext(ctx, query, parameter)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		return nil, rows.Err()
	}
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	if len(columns) > maxColumns {
		return nil, mistake(fmt.Sprintf("the query gives %d columns, at most %d are taken", len(columns), maxColumns))
	}
	values := make([]any, len(columns))
	to := make([]any, len(columns))
	for i := range values {
		to[i] = &values[i]
	}
	if err := rows.Scan(to...); err != nil {
		return nil, err
	}
	if err := trimPadding(rows, values); err != nil {
		return nil, err
	}
	r, err := newRow(columns, values)
	if err != nil {
		return nil, err
	}
	if rows.Next() {
		return nil, mistake("more than one row was found for one user")
	}
	r.asked = parameter
	return r, rows.Err()
}

// trimPadding removes the spaces with which PostgreSQL fills up values of columns of type CHAR. They mean nothing: it ignores
// them where it compares such values or makes texts of them, and other databases leave them out.
func trimPadding(rows *sql.Rows, values []any) error {
	columns, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	for i, c := range columns {
		if text, ok := values[i].(string); ok && c.DatabaseTypeName() == "BPCHAR" {
			values[i] = strings.TrimRight(text, " ")
		}
	}
	return nil
}

// mistake is an error in the operator's queries or data. Its text names columns, never values.
type mistake string

func (m mistake) Error() string { return "the SQL directory: " + string(m) }

func newRow(columns []string, values []any) (*row, error) {
	r := &row{}
	u := &r.user
	texts := u.Texts()
	maps.Copy(texts, map[string]*string{"id": &u.ID, "password": &r.hash, "password_hash": &r.hash, "salt": &r.salt})
	seen := make(map[string]bool)
	for i, given := range columns {
		column := strings.ToLower(given)
		if seen[column] || column == "password" && seen["password_hash"] || column == "password_hash" && seen["password"] {
			return nil, mistake(fmt.Sprintf("the column %q is given twice", column))
		}
		seen[column] = true
		var err error
		switch {
		case texts[column] != nil:
			*texts[column], err = textValue(values[i])
		case column == "locked":
			u.Locked, err = boolValue(values[i])
		case isSecretColumn(column):
			err = errors.New("looks like a secret, and would become a claim of the user: leave it out, or name it password or salt")
		case values[i] != nil:
			if u.Claims == nil {
				u.Claims = make(map[string]any)
			}
			u.Claims[given], err = claimValue(values[i])
		}
		if err != nil {
			return nil, mistake(fmt.Sprintf("the column %q %v", column, err))
		}
	}
	for _, column := range []string{"id", "username"} {
		if !seen[column] {
			return nil, mistake(fmt.Sprintf("the query gives no column %q", column))
		}
	}
	u.Username = norm.NFC.String(u.Username)
	*u = u.Presentable()
	if err := u.Check(); err != nil {
		return nil, mistake("a user's row cannot be used: " + err.Error())
	}
	return r, nil
}

// isSecretColumn finds columns that somebody selected by mistake.
func isSecretColumn(column string) bool {
	return slices.ContainsFunc([]string{"passw", "pwd", "secret"}, func(part string) bool { return strings.Contains(column, part) })
}
