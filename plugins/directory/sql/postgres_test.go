package sql_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/gatehouse/gatehouse/module/directory"
	sqldir "github.com/gatehouse/gatehouse/plugins/directory/sql"
	"github.com/gatehouse/gatehouse/plugins/directory/sql/sqltest"
)

// N17: PostgreSQL ends a query that is given up also when the cancel request of the driver is
// lost, or comes before the query has begun.
func TestPostgreSQLEndsAnAbandonedQueryWithoutCancel(t *testing.T) {
	s := onPostgreSQL(t)
	s.table(t)
	s.insert(t, directory.User{ID: "1", Username: "ann"}, "", "")
	to := relay(t, address(t, s.DSN()), func(first []byte) bool { return !isCancelRequest(first) })
	d := s.open(t, func(src *sqldir.Source) {
		t.Setenv("USERS_DSN", strings.Replace(s.DSN(), address(t, s.DSN()), to, 1))
		src.Lookup = "SELECT id, login AS username FROM users WHERE id = $1 AND (SELECT count(*) FROM generate_series(1, 3000000000000)) = 0"
		src.Timeout = caddy.Duration(500 * time.Millisecond)
	})
	if _, ok, err := d.Lookup(t.Context(), "1"); ok || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("N17 %t, %v", ok, err)
	}
	running := "SELECT count(*)::text FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%3000000000000%' AND pid <> pg_backend_pid()"
	for end := time.Now().Add(30 * time.Second); s.Scalar(t, running) != "0"; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("N17 %s queries run on", s.Scalar(t, running))
		}
	}
}

// PgBouncer refuses connections with startup parameters that it was not told to ignore.
func TestPoolerWithoutStartupParametersIsSupported(t *testing.T) {
	s := onPostgreSQL(t)
	s.table(t)
	s.insert(t, directory.User{ID: "1", Username: "ann"}, "", "")
	var refused atomic.Int32
	to := pooler(t, address(t, s.DSN()), &refused)
	d := s.open(t, func(*sqldir.Source) { t.Setenv("USERS_DSN", strings.Replace(s.DSN(), address(t, s.DSN()), to, 1)) })
	for range 3 {
		if u, ok, err := d.Lookup(t.Context(), "1"); !ok || err != nil || u.Username != "ann" {
			t.Fatalf("%+v, %t, %v", u, ok, err)
		}
	}
	if refused.Load() != 1 {
		t.Errorf("%d connections were tried with a parameter, expected only the first", refused.Load())
	}
}

// onPostgreSQL returns a PostgreSQL alone: the others have neither cancel requests nor startup
// parameters.
func onPostgreSQL(t *testing.T) server {
	t.Helper()
	s, err := sqltest.PostgreSQL()
	if err != nil {
		t.Fatal(err)
	}
	return server{s}
}

// address returns the host and port of a DSN.
func address(t *testing.T, dsn string) string {
	t.Helper()
	_, rest, _ := strings.Cut(dsn, "@")
	host, _, ok := strings.Cut(rest, "/")
	if !ok {
		t.Fatal("a DSN of another form")
	}
	return host
}

// isCancelRequest reports whether a connection begins with PostgreSQL's code for one.
func isCancelRequest(first []byte) bool {
	return len(first) >= 8 && string(first[4:8]) == "\x04\xd2\x16\x2e"
}

// relay passes connections on to a server, those whose first bytes pass.
func relay(t *testing.T, to string, pass func(first []byte) bool) string {
	t.Helper()
	return listen(t, func(from net.Conn) {
		first := make([]byte, 8)
		if _, err := io.ReadFull(from, first); err != nil || !pass(first) {
			return
		}
		join(from, to, first)
	})
}

// pooler is a relay that refuses a statement_timeout in PgBouncer's words.
func pooler(t *testing.T, to string, refused *atomic.Int32) string {
	t.Helper()
	return listen(t, func(from net.Conn) {
		backend := pgproto3.NewBackend(from, from)
		said, err := backend.ReceiveStartupMessage()
		if err != nil {
			return
		}
		start, ok := said.(*pgproto3.StartupMessage)
		if !ok {
			return
		}
		if _, has := start.Parameters["statement_timeout"]; has {
			refused.Add(1)
			backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: "unsupported startup parameter: statement_timeout"})
			_ = backend.Flush()
			return
		}
		first, err := start.Encode(nil)
		if err != nil {
			return
		}
		join(from, to, first)
	})
}

// listen serves connections, each in a goroutine that ends with the test.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				serve(conn)
			}()
		}
	}()
	return ln.Addr().String()
}

// join sends what was read already to a server, and then copies both ways until one side ends.
func join(from net.Conn, to string, first []byte) {
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if _, err := server.Write(first); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(from, server)
		_ = from.Close()
	}()
	_, _ = io.Copy(server, from)
}
