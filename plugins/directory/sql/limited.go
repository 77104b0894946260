package sql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

// limited has MariaDB or MySQL end statements by themselves. The driver closes the connection
// of a query that takes too long, and the server works on until it has rows to send: strangers
// who sign in again and again would have a slow database work on more and more queries, on
// more connections than max_connections. For PostgreSQL see [postgres].
type limited struct {
	driver.Connector
	statements []string // the first that the server understands counts
}

// limitMargin is how much longer the server has than the caller waits: whose patience ends
// first must not depend on chance.
const limitMargin = time.Second

// limitQueries wraps a connector unless the DSN sets such a limit already.
func limitQueries(to driver.Connector, c *mysql.Config, timeout time.Duration) driver.Connector {
	mariaDB, mySQL := "max_statement_time", "max_execution_time"
	if c.Params[mariaDB] != "" || c.Params[mySQL] != "" {
		return to
	}
	timeout += limitMargin
	return &limited{to, []string{
		fmt.Sprintf("SET SESSION %s = %.3f", mariaDB, timeout.Seconds()),
		fmt.Sprintf("SET SESSION %s = %d", mySQL, timeout.Milliseconds()),
	}}
}

// Connect implements [driver.Connector].
func (l *limited) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := l.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.setLimit(ctx, conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// setLimit leaves a server without a limit that knows none, such as MySQL before 5.7.8.
func (l *limited) setLimit(ctx context.Context, conn driver.Conn) error {
	to, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil
	}
	for _, statement := range l.statements {
		_, err := to.ExecContext(ctx, statement, nil)
		if said := (*mysql.MySQLError)(nil); err == nil || !errors.As(err, &said) {
			return err
		}
	}
	return nil
}
