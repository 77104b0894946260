package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// isUnrepresentable reports whether a query failed because no row could have the parameter as a value: letters for
// a number, or letters that its character set does not have. Databases say the same of values in their tables when a query
// converts them, such as a text that is no date; that is a fault of the query, or of a row, and nobody's password. What
// cannot be told apart is a fault.
func (d *dir) isUnrepresentable(ctx context.Context, err error, query, parameter string) bool {
	if said, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return isOutsideCharacterSet(said, parameter) && d.takesASCII(ctx, query)
	}
	code := valueCode(err)
	if code == "" {
		return false
	}
	if alone := d.convertParameter(ctx, query, []byte(parameter)); alone != nil {
		return valueCode(alone) == code && isOtherwise(d.convertParameter(ctx, query, nil), code)
	}
	return isDataException(code) && d.isConvertedFurther(ctx, code, query, parameter)
}

// isOutsideCharacterSet reports whether MariaDB or MySQL may mean the parameter with what it said. ASCII is in all of its
// character sets. Columns that do not fit each other are not coercible, but some of these errors do not tell.
func isOutsideCharacterSet(said *mysql.MySQLError, parameter string) bool {
	return strings.ContainsFunc(parameter, func(r rune) bool { return r > unicode.MaxASCII }) &&
		(slices.Contains([]uint16{1271, 1366, 1977, 3988}, said.Number) ||
			(said.Number == 1267 || said.Number == 1270) && strings.Contains(said.Message, "COERCIBLE"))
}

// takesASCII reports whether a query succeeds with a parameter that every character set has.
func (d *dir) takesASCII(ctx context.Context, query string) bool {
	_, err := d.ask(ctx, query, "-")
	return err == nil
}

// valueCode is what PostgreSQL says of a query if it may mean a value, "" if it means the connection or itself (its appendix A).
// Most values that do not fit are data exceptions, but types that name things of the database, such as regrole, and those that
// have a syntax, such as tsquery, say what a query gets that is wrong.
func valueCode(err error) string {
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || len(said.Code) < 2 || slices.Contains(troubleClasses, said.Code[:2]) {
		return ""
	}
	return said.Code
}

var troubleClasses = []string{"08", "25", "28", "3D", "40", "53", "55", "57", "58", "XX"}

// isDataException reports whether a code is about a value that is none of a type, or of a domain (a check).
func isDataException(code string) bool {
	return strings.HasPrefix(code, "22") || code == checkViolation
}

const checkViolation = "23514"

// isOtherwise reports whether PostgreSQL took a value, or has something else against it than this code.
func isOtherwise(err error, code string) bool {
	other := valueCode(err)
	return err == nil || other != "" && other != code
}

// convertParameter has PostgreSQL convert a parameter to the type that it has in a query, and run nothing of the query:
// even to plan it would call its functions, which may read rows. A parameter of nil is NULL.
func (d *dir) convertParameter(ctx context.Context, query string, parameter []byte) error {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(raw any) error {
		c, ok := raw.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("a connection of type %T", raw)
		}
		// A pooler between keeps a transaction on one connection.
		return pgx.BeginTxFunc(ctx, c.Conn(), pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(pgx.Tx) error {
			server := c.Conn().PgConn()
			described, err := server.Prepare(ctx, "", query, nil)
			if err != nil {
				return err
			}
			return server.ExecParams(ctx, "SELECT $1 IS NULL", [][]byte{parameter}, described.ParamOIDs, nil, nil).Read().Err
		})
	})
}

// isConvertedFurther reports whether a parameter of the right type does not fit what the query makes of it, as in
// ($1::text)::int: PostgreSQL computes that as it plans the query. An error with a context may come from a row that a
// function has read.
func (d *dir) isConvertedFurther(ctx context.Context, code, query, parameter string) bool {
	said, ok := errors.AsType[*pgconn.PgError](d.plan(ctx, query, parameter))
	return ok && said.Code == code && said.Where == "" && d.plan(ctx, query, nil) == nil
}

// plan has PostgreSQL plan a query with a parameter.
func (d *dir) plan(ctx context.Context, query string, parameter any) error {
	tx, err := d.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, withoutParameters); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "EXPLAIN "+query, parameter)
	return err
}

// withoutParameters keeps the parameters out of the context of errors until the transaction ends. PostgreSQL has this
// setting since version 13.
const withoutParameters = "SELECT set_config(name, '0', true) FROM pg_settings WHERE name = 'log_parameter_max_length_on_error'"
