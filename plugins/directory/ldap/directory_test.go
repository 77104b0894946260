package ldap

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/plugins/internal/remote"
)

func seed(id, username, password string) directorytest.Seed {
	return directorytest.Seed{User: directory.User{ID: id, Username: username}, Password: password}
}

func signsIn(t *testing.T, d *dir, username, password string) directory.User {
	t.Helper()
	u, ok, err := d.Authenticate(t.Context(), username, password)
	if !ok || err != nil {
		t.Fatalf("Authenticate(%q) = %t, %v", username, ok, err)
	}
	return u
}

func isRefused(t *testing.T, d *dir, username, password string) {
	t.Helper()
	if u, ok, err := d.Authenticate(t.Context(), username, password); ok || err != nil || u.ID != "" {
		t.Fatalf("Authenticate(%q) = %+v, %t, %v, want a refusal", username, u, ok, err)
	}
}

func TestLDAPServerMeetsTheDirectoryContract(t *testing.T) {
	s := newServer(t)
	for name, change := range map[string]func(*Source){
		"an attribute locks":     func(*Source) {},
		"a filter locks, of TLS": func(src *Source) { src.Locked, src.URL, src.CA = "(employeeType=TRUE)", s.ldap, s.ca },
	} {
		t.Run(name, func(t *testing.T) {
			src := s.source(t)
			change(src)
			directorytest.Run(t, func(t *testing.T, users []directorytest.Seed) directory.Directory {
				s.fill(t, users...)
				return opened(t, src)
			})
		})
	}
}

func TestEmptyPasswordIsNeverSent(t *testing.T) { // RFC 4513 section 5.1.2
	s := newServer(t)
	s.fill(t, seed("1", "ann", "secret"))
	d := opened(t, s.source(t))
	signsIn(t, d, "ann", "secret")
	isRefused(t, d, "ann", "")
	if _, err := d.checkPassword(t.Context(), &ldap.Entry{DN: "employeeNumber=1," + people}, ""); err == nil {
		t.Error("a bind without a password was sent")
	}
}

func TestUnknownUserCostsAHarmlessBind(t *testing.T) { // E15
	s := newServer(t)
	s.fill(t, seed("1", "ann", "secret"))
	d := opened(t, s.source(t))
	isRefused(t, d, "nobody", "guess")
	if len(d.binds.idle) != 1 {
		t.Fatalf("%d connections for binds", len(d.binds.idle))
	}
	who, err := d.binds.idle[0].conn.WhoAmI(nil)
	if err != nil || who.AuthzID != "dn:"+reader {
		t.Errorf("bound as %+v, %v, want a bind of bind_dn that succeeded", who, err)
	}
}

func TestNamesAreEscapedInTheLDAPFilter(t *testing.T) { // RFC 4515 section 3
	s := newServer(t)
	s.fill(t, seed("1", "ann", "secret"), seed("2", "b(o)b*\\", "secret"))
	d := opened(t, s.source(t))
	for _, name := range []string{"*", "a*", "ann)(uid=*", "*)(|(uid=*", "\\61nn", "ann\\00", "ann)(|(objectClass=*))", "a\u200dnn", " ann", "ann "} {
		isRefused(t, d, name, "secret")
	}
	if u := signsIn(t, d, "b(o)b*\\", "secret"); u.ID != "2" {
		t.Errorf("signed in as %+v", u)
	}
	if u := signsIn(t, d, "ANN", "secret"); u.Username != "ann" {
		t.Errorf("the canonical spelling is %q", u.Username)
	}
	for _, id := range []string{"*", "1)(uid=*", "1*", "\\31", ""} {
		if _, ok, err := d.Lookup(t.Context(), id); ok || err != nil {
			t.Errorf("Lookup(%q) = %t, %v", id, ok, err)
		}
	}
}

func TestTwoEntriesForOneNameAreAnError(t *testing.T) {
	s := newServer(t)
	twin, another := seed("2", "bob", "secret"), seed("3", "carl", "secret")
	twin.Email, another.Email = "ann", "ann"
	s.fill(t, seed("1", "ann", "secret"), twin, another)
	src := s.source(t)
	src.Filter = "(|(uid={username})(mail={username}))"
	d := opened(t, src)
	if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil || !strings.Contains(err.Error(), "more than one") {
		t.Errorf("Authenticate = %t, %v", ok, err)
	}
	signsIn(t, d, "bob", "secret")
}

func TestUserOutsideTheFilterIsGone(t *testing.T) {
	s := newServer(t)
	u := seed("1", "ann", "secret")
	u.Claims = map[string]any{"department": "press"}
	s.fill(t, u)
	src := s.source(t)
	src.Filter = "(&(uid={username})(departmentNumber=press))"
	d := opened(t, src)
	signsIn(t, d, "ann", "secret")
	if _, ok, err := d.Lookup(t.Context(), "1"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.edit(t, func(c *ldap.Conn) error {
		r := ldap.NewModifyRequest("employeeNumber=1,"+people, nil)
		r.Replace("departmentNumber", []string{"none"})
		return c.Modify(r)
	})
	isRefused(t, d, "ann", "secret")
	if _, ok, err := d.Lookup(t.Context(), "1"); ok || err != nil {
		t.Errorf("Lookup = %t, %v", ok, err)
	}
}

func TestDefaultsFitATypicalLDAPServer(t *testing.T) {
	s := newServer(t)
	u := seed("1", "ann", "secret")
	u.Email, u.Nickname = "ann@example.com", "Annie"
	s.fill(t, u)
	src := s.source(t)
	src.ID, src.Locked, src.Attributes, src.Claims = "", "", nil, nil
	d := opened(t, src)
	got := signsIn(t, d, "ann", "secret")
	if len(got.ID) != 36 || got.Username != "ann" || got.Name != "-" || got.Email != "ann@example.com" || got.Nickname != "" || got.Claims != nil {
		t.Errorf("%+v", got)
	}
	again, ok, err := d.Lookup(t.Context(), got.ID)
	if !ok || err != nil || again.Username != "ann" {
		t.Errorf("Lookup = %+v, %t, %v", again, ok, err)
	}
}

func TestLDAPServerRestartFailsNoSignIn(t *testing.T) {
	s := newServer(t)
	s.fill(t, seed("1", "ann", "secret"))
	d := opened(t, s.source(t))
	var group sync.WaitGroup
	for range 4 { // several connections of each kind
		group.Go(func() {
			if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); !ok || err != nil {
				t.Error(ok, err)
			}
		})
	}
	group.Wait()
	s.stop(t)
	begun := time.Now()
	for range 2 {
		if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil {
			t.Errorf("while the server is away: %t, %v", ok, err)
		}
		if _, ok, err := d.Lookup(t.Context(), "1"); ok || err == nil {
			t.Errorf("while the server is away: %t, %v", ok, err)
		}
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it took %v to notice", took)
	}
	s.start(t)
	signsIn(t, d, "ann", "secret")
	isRefused(t, d, "ann", "wrong")
}

func TestConnectionThatDiesInUseIsReplaced(t *testing.T) {
	s := newServer(t)
	s.fill(t, seed("1", "ann", "secret"))
	d := opened(t, s.source(t))
	for _, p := range []*pool{d.searches, d.binds} {
		ours, theirs := net.Pipe()
		answers := newBounded(ours, mostAnswer)
		conn := ldap.NewConn(answers, false)
		conn.Start()
		p.putConn(&serverConn{conn, answers})
		var group sync.WaitGroup
		group.Go(func() {
			_, _ = theirs.Read(make([]byte, 1)) // the request comes, and the server ends
			_ = theirs.Close()
		})
		signsIn(t, d, "ann", "secret")
		group.Wait()
	}
}

func TestConnectionsAreReused(t *testing.T) {
	s := newServer(t)
	s.fill(t, seed("1", "ann", "secret"))
	src := s.source(t)
	src.Pool = 2
	d := opened(t, src)
	for range 20 {
		signsIn(t, d, "ann", "secret")
		isRefused(t, d, "nobody", "secret")
	}
	if a, b := len(d.searches.idle), len(d.binds.idle); a != 1 || b != 1 {
		t.Errorf("%d and %d connections, want one of each kind", a, b)
	}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); !ok || err != nil {
				t.Error(ok, err)
			}
		})
	}
	group.Wait()
	if a, b := len(d.searches.idle), len(d.binds.idle); a > 2 || b > 2 {
		t.Errorf("%d and %d connections, more than the limit", a, b)
	}
	later := time.Now().Add(idleFor)
	d.searches.now = func() time.Time { return later }
	signsIn(t, d, "ann", "secret")
	if a := len(d.searches.idle); a > 1 {
		t.Errorf("%d connections, of which some are too old", a)
	}
	_ = d.Close()
	if _, _, err := d.Authenticate(t.Context(), "ann", "secret"); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestUnresponsiveLDAPServerTimesOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
		}
	})
	t.Setenv("LDAP_PASSWORD", "x")
	for _, startTLS := range []bool{false, true} {
		src := &Source{URL: "ldap://" + l.Addr().String(), Base: people, StartTLS: startTLS, Timeout: 0, Pool: 1}
		d := opened(t, src)
		d.s.timeout = 150 * time.Millisecond
		begun := time.Now()
		var both sync.WaitGroup
		for range 2 { // the second waits for the only connection
			both.Go(func() {
				if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil {
					t.Errorf("Authenticate = %t, %v", ok, err)
				}
			})
		}
		both.Wait()
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := d.Authenticate(ctx, "ann", "secret"); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that left: %v", err)
		}
	}
	_ = l.Close()
	group.Wait()
}

// A server that is in trouble answers everybody so: else whom it knows would be told by it.
func TestServerFaultIsAnErrorForUnknownUsersToo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var code atomic.Uint32 // of the answer to each bind
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() { findNobody(c, &code) })
		}
	})
	d := opened(t, &Source{URL: "ldap://" + l.Addr().String(), Base: people})
	for _, trouble := range []uint16{ldap.LDAPResultBusy, ldap.LDAPResultUnavailable, ldap.LDAPResultOther, ldap.LDAPResultOperationsError} {
		code.Store(uint32(trouble))
		if _, ok, err := d.Authenticate(t.Context(), "nobody", "secret"); ok || !ldap.IsErrorWithCode(err, trouble) {
			t.Errorf("%d: %t, %v", trouble, ok, err)
		}
	}
	for _, refusal := range []uint16{ldap.LDAPResultSuccess, ldap.LDAPResultInvalidCredentials, ldap.LDAPResultNoSuchObject} {
		code.Store(uint32(refusal))
		isRefused(t, d, "nobody", "secret")
	}
	_ = d.Close()
	_ = l.Close()
	group.Wait()
}

// findNobody answers requests (RFC 4511 section 4.1.1) as a server without entries does.
func findNobody(c net.Conn, code *atomic.Uint32) {
	defer func() { _ = c.Close() }()
	request := make([]byte, 4096)
	for {
		if n, err := c.Read(request); err != nil || n < 10 {
			return
		}
		length := 1
		if request[1] >= 0x80 { // it has more bytes
			length += int(request[1] - 0x80)
		}
		id, operation, result := request[1+length+2], request[1+length+3], byte(0)
		const bind, search = 0x60, 0x63
		switch operation {
		case bind:
			result = byte(code.Load())
		case search:
			operation++ // its answer is the end of the entries, 0x65
		default:
			return
		}
		if _, err := c.Write([]byte{0x30, 12, 2, 1, id, operation + 1, 7, 10, 1, result, 4, 0, 4, 0}); err != nil {
			return
		}
	}
}

func trust(file string) *remote.TLS {
	return &remote.TLS{TrustPool: json.RawMessage(`{"provider":"file","pem_files":["` + file + `"]}`)}
}

func TestLDAPPasswordsAreEncryptedOrNotSent(t *testing.T) {
	s := newServer(t)
	s.fill(t, seed("1", "ann", "secret"))
	for name, c := range map[string]struct {
		change func(*Source)
		fails  bool
	}{
		"start_tls":                     {func(src *Source) { src.StartTLS, src.CA = true, s.ca }, false},
		"ldaps":                         {func(src *Source) { src.URL, src.CA = s.ldap, s.ca }, false},
		"start_tls, Caddy's trust_pool": {func(src *Source) { src.StartTLS, src.TLS = true, trust(s.ca) }, false},
		"ldaps, Caddy's trust_pool":     {func(src *Source) { src.URL, src.TLS = s.ldap, trust(s.ca) }, false},
		"ldaps, the system's": {func(src *Source) {
			src.URL, src.TLS = s.ldap, &remote.TLS{TrustPool: json.RawMessage(`{"provider":"system"}`)}
		}, true},
		"start_tls, unknown authority":  {func(src *Source) { src.StartTLS = true }, true},
		"ldaps, unknown authority":      {func(src *Source) { src.URL = s.ldap }, true},
		"ldaps, another host's":         {func(src *Source) { src.URL, src.CA = strings.Replace(s.ldap, "127.0.0.1", "localhost", 1), s.ca }, true},
		"bind_dn with a wrong password": {func(src *Source) { src.BindPassword = "{env.HOME}" }, true},
		"an anonymous search":           {func(src *Source) { src.BindDN, src.BindPassword = "", "" }, true},
		"no such base":                  {func(src *Source) { src.Base = "ou=nobody," + suffix }, true},
		"an id that entries lack":       {func(src *Source) { src.ID = "roomNumber" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			src := s.source(t)
			c.change(src)
			d := opened(t, src)
			for range 2 { // what failed to bind must not be used again
				_, ok, err := d.Authenticate(t.Context(), "ann", "secret")
				if ok == c.fails || (err != nil) != c.fails {
					t.Errorf("Authenticate = %t, %v", ok, err)
				}
				if n := len(d.searches.idle); strings.HasPrefix(name, "bind_dn") && n > 0 {
					t.Errorf("%d connections are kept that nobody is bound on", n)
				}
				if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n")) {
					t.Errorf("the error tells too much: %v", err)
				}
			}
		})
	}
}
