package ldap

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// A server that agrees to StartTLS and then says nothing is waited for once, not twice.
func TestServerHangsInStartTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer func() { _ = c.Close() }()
				if _, err := c.Read(make([]byte, 1024)); err != nil {
					return
				}
				// An ExtendedResponse to message 1 with the result success (RFC 4511 section 4.12).
				if _, err := c.Write([]byte{0x30, 0x0c, 0x02, 0x01, 0x01, 0x78, 0x07, 0x0a, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00}); err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, c)
			})
		}
	})
	defer group.Wait()
	defer func() { _ = l.Close() }()
	t.Setenv("LDAP_PASSWORD", "x")
	d := opened(t, &Source{URL: "ldap://" + l.Addr().String(), Base: people, StartTLS: true, Pool: 1})
	d.s.timeout = 2 * time.Second
	begun := time.Now()
	if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil {
		t.Errorf("Authenticate = %t, %v", ok, err)
	}
	if took := time.Since(begun); took > d.s.timeout*3/2 {
		t.Errorf("it took %v with a timeout of %v", took, d.s.timeout)
	}
}
