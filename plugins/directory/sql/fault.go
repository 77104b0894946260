package sql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"unicode"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// queryError is the technical error that callers get. It tells what an operator needs and
// drops what could quote a parameter: people type passwords where their name belongs.
func queryError(ctx context.Context, err error) error {
	var m mistake
	if errors.As(err, &m) {
		return m
	}
	if ctx.Err() != nil {
		return fmt.Errorf("the SQL directory: the database did not answer in time: %w", ctx.Err())
	}
	if unreachable, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return fmt.Errorf("the SQL directory: %w", unreachable)
	}
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		if said.Code == queryCanceled {
			return fmt.Errorf("the SQL directory: the database did not answer in time: %w", context.DeadlineExceeded)
		}
		if len(said.Code) > 2 && slices.Contains(tellableClasses, said.Code[:2]) {
			return fmt.Errorf("the SQL directory: the database says: %s (SQLSTATE %s)", said.Message, said.Code)
		}
		return fmt.Errorf("the SQL directory: the database says SQLSTATE %s", said.Code)
	}
	if said, ok := errors.AsType[*mysql.MySQLError](err); ok {
		if slices.Contains(outOfTime, said.Number) {
			return fmt.Errorf("the SQL directory: the database did not answer in time: %w", context.DeadlineExceeded)
		}
		if slices.Contains(tellable, said.Number) {
			return fmt.Errorf("the SQL directory: the database says: %s (error %d)", said.Message, said.Number)
		}
		return fmt.Errorf("the SQL directory: the database says error %d", said.Number)
	}
	if _, ok := errors.AsType[net.Error](err); ok || slices.ContainsFunc(broken, func(b error) bool { return errors.Is(err, b) }) {
		return fmt.Errorf("the SQL directory: %w", err)
	}
	return fmt.Errorf("the SQL directory: an error of type %T", err)
}

// tellableClasses are PostgreSQL's errors about connections, rights, names, syntax and resources (its appendix A),
// and tellable MySQL's: they quote the operator's query and no parameter.
var tellableClasses = []string{"08", "25", "28", "3D", "42", "53", "57"}

var tellable = []uint16{1040, 1044, 1045, 1049, 1054, 1064, 1142, 1143, 1146, 1203, 1226, 1305, 1370, 1698, 1792}

// outOfTime are what MariaDB and MySQL say of a query that they ended, see [limited].
var outOfTime = []uint16{1969, 3024}

// unconvertible are PostgreSQL's errors about a value that is none of a type, or has letters that a character set does not have.
var unconvertible = []string{"22P02", "22P05", "22003", "22007", "22008", "22021"}

func isUnconvertible(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(unconvertible, said.Code)
}

// isUnrepresentable reports whether a query failed because no row could have the parameter as a value: letters for
// a number, or letters that its character set does not have. Databases say the same of values in their tables when a query
// converts them, such as a text that is no date; that is a fault of the query, or of a row, and nobody's password.
func (d *dir) isUnrepresentable(ctx context.Context, err error, query, parameter string) bool {
	if said, ok := errors.AsType[*mysql.MySQLError](err); ok {
		// ASCII is in all character sets of MariaDB and MySQL. Columns that do not fit each other are not coercible.
		return strings.ContainsFunc(parameter, func(r rune) bool { return r > unicode.MaxASCII }) &&
			(slices.Contains([]uint16{1271, 1366, 1977, 3988}, said.Number) ||
				(said.Number == 1267 || said.Number == 1270) && strings.Contains(said.Message, "COERCIBLE"))
	}
	return isUnconvertible(err) && isUnconvertible(d.plan(ctx, query, parameter)) && d.plan(ctx, query, nil) == nil
}

// plan has PostgreSQL plan a query with a parameter, for which it converts the parameter and reads no row. What it says of one
// that it cannot convert depends on its version, its language and its configuration.
func (d *dir) plan(ctx context.Context, query string, parameter any) error {
	tx, err := d.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(ctx, "EXPLAIN "+query, parameter)
	return err
}

// broken are what drivers say of a connection that broke, as after a restart of the database.
var broken = []error{driver.ErrBadConn, mysql.ErrInvalidConn, io.EOF, io.ErrUnexpectedEOF}
