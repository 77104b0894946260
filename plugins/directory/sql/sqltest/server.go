//go:build unix

package sqltest

import (
	"bytes"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/certificates"
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// User is the account that queries, Password one that must show nowhere.
const User, Password = "shop", "canary-db-password"

// Server is a database server of the test process's own, on a loopback port.
type Server struct {
	// Driver is what a configuration calls it.
	Driver string
	// account is the package's, driver the name in database/sql.
	account, driver string
	stop            syscall.Signal // ends it at once
	dir             string
	port            int
	log             journal

	setUp   func(*Server) error
	command func(*Server) *exec.Cmd

	mu      sync.Mutex
	process *exec.Cmd
}

// journal keeps what a server says, of one process and the next.
type journal struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.said.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.said.String()
}

// PostgreSQL is started once for a process.
var PostgreSQL = sync.OnceValues(func() (*Server, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		return nil, fmt.Errorf("these tests need PostgreSQL, in Debian the package postgresql")
	}
	bin := slices.Max(found)
	return startServer(&Server{
		Driver: "postgres", account: "postgres", driver: "pgx", stop: syscall.SIGQUIT,
		setUp: func(s *Server) error {
			pw := filepath.Join(s.dir, "pw")
			if err := os.WriteFile(pw, []byte(Password), 0o644); err != nil {
				return err
			}
			return s.runCommand(exec.Command(bin+"/initdb", "-D", filepath.Join(s.dir, "data"), "-U", User, "-A", "scram-sha-256", "--pwfile="+pw, "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"))
		},
		command: func(s *Server) *exec.Cmd {
			return exec.Command(bin+"/postgres", "-D", filepath.Join(s.dir, "data"), "-p", strconv.Itoa(s.port), "-k", s.dir,
				"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "shared_buffers=16MB",
				"-c", "ssl=on", "-c", "ssl_cert_file="+s.path("server.crt"), "-c", "ssl_key_file="+s.path("server.key"))
		},
	})
})

// MariaDB is started once for a process.
var MariaDB = sync.OnceValues(func() (*Server, error) {
	return startServer(&Server{
		Driver: "mysql", account: "mysql", driver: "mysql", stop: syscall.SIGKILL,
		setUp: func(s *Server) error {
			sql := fmt.Sprintf("CREATE DATABASE shop CHARACTER SET utf8mb4;\nCREATE USER '%[1]s'@'127.0.0.1' IDENTIFIED BY '%[2]s';\nGRANT ALL ON shop.* TO '%[1]s'@'127.0.0.1';\n", User, Password)
			if err := os.WriteFile(filepath.Join(s.dir, "init.sql"), []byte(sql), 0o644); err != nil {
				return err
			}
			return s.runCommand(exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+filepath.Join(s.dir, "data"), "--auth-root-authentication-method=normal", "--skip-test-db", "--tmpdir="+s.dir))
		},
		command: func(s *Server) *exec.Cmd {
			args := []string{
				"--no-defaults", "--datadir=" + filepath.Join(s.dir, "data"), "--port=" + strconv.Itoa(s.port), "--bind-address=127.0.0.1",
				"--socket=" + filepath.Join(s.dir, "s"), "--pid-file=" + filepath.Join(s.dir, "pid"), "--tmpdir=" + s.dir, "--skip-name-resolve",
				"--ssl-cert=" + s.path("server.crt"), "--ssl-key=" + s.path("server.key"),
				"--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=2", "--innodb-log-file-size=8M",
			}
			init := filepath.Join(s.dir, "init.sql")
			if _, err := os.Stat(filepath.Join(s.dir, "data", "shop")); err != nil {
				args = append(args, "--init-file="+init)
			}
			return exec.Command("/usr/sbin/mariadbd", args...)
		},
	})
})

var begun struct {
	sync.Mutex
	all []*Server
}

// StopAll ends the servers of this process and removes what they kept.
func StopAll() {
	begun.Lock()
	defer begun.Unlock()
	for _, s := range begun.all {
		s.Stop()
		_ = os.RemoveAll(s.dir)
	}
	begun.all = nil
}

// startServer makes a data directory and starts the server. Neither runs as root: then it is
// the account of the package.
func startServer(s *Server) (*Server, error) {
	dir, err := os.MkdirTemp("", "gatehouse-"+s.Driver)
	if err != nil {
		return nil, err
	}
	s.dir = dir
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	begun.Lock()
	begun.all = append(begun.all, s)
	begun.Unlock()
	if err := certificates.Issue(dir, "server"); err != nil {
		return nil, err
	}
	if who := s.credential(); who != nil {
		for _, file := range []string{dir, s.path("server.crt"), s.path("server.key")} {
			if err := os.Chown(file, int(who.Uid), int(who.Gid)); err != nil {
				return nil, err
			}
		}
	}
	if err := s.setUp(s); err != nil {
		return nil, err
	}
	return s, s.Start()
}

// CA is the file with the certificate of the CA that certified the server, for localhost and 127.0.0.1.
func (s *Server) CA() string { return s.path("ca.crt") }

func (s *Server) path(name string) string { return filepath.Join(s.dir, name) }

func (s *Server) credential() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup(s.account)
	if err != nil {
		return nil
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (s *Server) runCommand(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential()}
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd.Path, err, out)
	}
	return nil
}

// patience is how long a server may take to start or end: a machine with few processors may
// run the tests of several packages beside it.
const patience = 5 * time.Minute

// Start runs the server until Stop, or until the test process dies in any way.
func (s *Server) Start() error {
	cmd := s.command(s)
	cmd.Dir, cmd.Stderr, cmd.Stdout = s.dir, &s.log, &s.log
	cmd.SysProcAttr = dieWithParent(s.credential())
	running, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		// The signal comes when the thread that started the process dies.
		runtime.LockOSThread()
		if err := cmd.Start(); err != nil {
			failed <- err
			return
		}
		close(running)
		_ = cmd.Wait()
		failed <- fmt.Errorf("it ended: %s", s.log.String())
	}()
	select {
	case err := <-failed:
		return err
	case <-running:
	}
	s.mu.Lock()
	s.process = cmd
	s.mu.Unlock()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		err := s.withDB(func(db *sql.DB) error { return db.Ping() })
		if err == nil {
			return nil
		}
		select {
		case ended := <-failed:
			return ended
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s does not answer: %w\n%s", s.Driver, err, s.log.String())
		}
	}
}

// Stop ends the server at once, as a machine that goes away does.
func (s *Server) Stop() {
	s.mu.Lock()
	cmd := s.process
	s.process = nil
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(s.stop)
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port)); err == nil {
			_ = c.Close()
		} else if syscall.Kill(cmd.Process.Pid, 0) != nil {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
}

// DSN is how a program asks it.
func (s *Server) DSN() string {
	if s.Driver == "postgres" {
		return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/postgres?sslmode=disable", User, Password, s.port)
	}
	return fmt.Sprintf("%s:%s@tcp(127.0.0.1:%d)/shop", User, Password, s.port)
}

// withDB opens the database for a moment.
func (s *Server) withDB(what func(*sql.DB) error) error {
	db, err := sql.Open(s.driver, s.DSN())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return what(db)
}

// Exec runs statements as the program that keeps the table does.
func (s *Server) Exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	err := s.withDB(func(db *sql.DB) error {
		_, err := db.Exec(statement, args...)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Scalar returns one text.
func (s *Server) Scalar(t testing.TB, query string) string {
	t.Helper()
	var v string
	if err := s.withDB(func(db *sql.DB) error { return db.QueryRow(query).Scan(&v) }); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// Both runs a test on either server.
func Both(t *testing.T, test func(t *testing.T, s *Server)) {
	for name, start := range map[string]func() (*Server, error){"PostgreSQL": PostgreSQL, "MariaDB": MariaDB} {
		t.Run(name, func(t *testing.T) {
			s, err := start()
			if err != nil {
				t.Fatal(err)
			}
			test(t, s)
		})
	}
}
