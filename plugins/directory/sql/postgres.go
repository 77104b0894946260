package sql

import (
	"context"
	"database/sql/driver"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// statementTimeout is PostgreSQL's name for how long a statement may take, in milliseconds.
const statementTimeout = "statement_timeout"

// postgres has PostgreSQL end statements by itself, as [limited] has the others. Its driver
// sends a cancel request when the caller gives up, and that is not enough: the server ignores
// one that arrives before the statement it is for has begun.
//
// The limit is a startup parameter and not a SET, which a pooler between would leave behind
// for the next program. PgBouncer refuses parameters it does not know; from then on
// connections are opened without one.
type postgres struct {
	bounded driver.Connector
	plain   driver.Connector
	refused atomic.Bool // the server does not take the parameter
}

// postgresConnector opens the connections of c, with a limit unless the DSN sets one.
func postgresConnector(c *pgx.ConnConfig, timeout time.Duration) driver.Connector {
	plain := stdlib.GetConnector(*c)
	if c.RuntimeParams[statementTimeout] != "" || strings.Contains(c.RuntimeParams["options"], statementTimeout) {
		return plain
	}
	bounded := c.Copy()
	bounded.RuntimeParams = maps.Clone(c.RuntimeParams)
	bounded.RuntimeParams[statementTimeout] = strconv.FormatInt((timeout + limitMargin).Milliseconds(), 10)
	return &postgres{bounded: stdlib.GetConnector(*bounded), plain: plain}
}

// Connect implements [driver.Connector].
func (p *postgres) Connect(ctx context.Context) (driver.Conn, error) {
	if p.refused.Load() {
		return p.plain.Connect(ctx)
	}
	conn, err := p.bounded.Connect(ctx)
	if said, ok := errors.AsType[*pgconn.PgError](err); ok && slices.Contains(parameterRefused, said.Code) {
		p.refused.Store(true)
		return p.plain.Connect(ctx)
	}
	return conn, err
}

// Driver implements [driver.Connector].
func (p *postgres) Driver() driver.Driver { return p.plain.Driver() }

// parameterRefused are what poolers and relatives of PostgreSQL say of a startup parameter
// that they do not take: a violation of the protocol, an unknown name, not supported.
var parameterRefused = []string{"08P01", "42704", "0A000"}

// queryCanceled is what PostgreSQL says of a statement that it ended.
const queryCanceled = "57014"
