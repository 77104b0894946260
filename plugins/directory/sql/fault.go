package sql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

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
		if len(said.Code) > 2 && slices.Contains(tellableClasses, said.Code[:2]) && said.Message != "" {
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

// withoutParameter returns what PostgreSQL says of a query with another parameter if it has the same against it, else the code
// alone. What it says of names and syntax may be about the parameter, and quote it in part: of $1::regclass the schema.
func (d *dir) withoutParameter(ctx context.Context, err error, query string) error {
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || !strings.HasPrefix(said.Code, "42") {
		return err
	}
	if _, again := d.ask(ctx, query, "-"); valueCode(again) == said.Code {
		return again
	}
	return &pgconn.PgError{Code: said.Code}
}

// tellableClasses are PostgreSQL's errors about connections, rights, names, syntax and resources (its appendix A),
// and tellable MySQL's: they quote the operator's query and no parameter, but for [dir.withoutParameter].
var tellableClasses = []string{"08", "25", "28", "3D", "42", "53", "57"}

var tellable = []uint16{1040, 1044, 1045, 1049, 1054, 1064, 1142, 1143, 1146, 1203, 1226, 1305, 1370, 1698, 1792}

// outOfTime are what MariaDB and MySQL say of a query that they ended, see [limited].
var outOfTime = []uint16{1969, 3024}

// broken are what drivers say of a connection that broke, as after a restart of the database.
var broken = []error{driver.ErrBadConn, mysql.ErrInvalidConn, io.EOF, io.ErrUnexpectedEOF}
