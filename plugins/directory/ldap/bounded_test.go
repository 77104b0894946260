package ldap

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// N17: neither a server nor, before TLS, somebody on the way to it has the gateway read without end.
func TestEndlessLDAPAnswerIsCutOff(t *testing.T) {
	for _, c := range []struct {
		name     string
		startTLS bool
		want     string
	}{
		{"of the server", false, "more than 1048576 bytes"},
		{"to StartTLS", true, "more than 65536 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := listenAndAnswer(t, func(conn net.Conn) {
				if _, err := conn.Read(make([]byte, 4096)); err != nil {
					return
				}
				_, _ = conn.Write([]byte{0x30, 0x84, 0x7f, 0, 0, 0}) // a message of 2 GB
				for nulls := bytes.Repeat([]byte{5, 0}, 1<<15); ; {
					if _, err := conn.Write(nulls); err != nil {
						return
					}
				}
			})
			d := opened(t, &Source{URL: "ldap://" + address, Base: people, StartTLS: c.startTLS, Pool: 1})
			d.s.timeout = time.Minute // of which nothing is waited for
			if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("N17 %t, %v, expected %s", ok, err, c.want)
			}
		})
	}
}

// A connection may be used for as many answers as there are, and for one as large as some directories have.
func TestEveryLDAPAnswerMayBeLarge(t *testing.T) {
	address := listenAndAnswer(t, func(conn net.Conn) {
		request := make([]byte, 4096)
		for {
			if _, err := conn.Read(request); err != nil {
				return
			}
			id, text := request[4], bytes.Repeat([]byte("x"), 900<<10) // the messages are short, with a length of one byte
			done := []byte{2, 1, id, 0x65, 0x80 | 4, 0, 0, 0, 0, 10, 1, 0, 4, 0, 4, 0x80 | 4, 0, 0, 0, 0}
			binary.BigEndian.PutUint32(done[16:], uint32(len(text)))
			binary.BigEndian.PutUint32(done[5:], uint32(len(done)-9+len(text)))
			head := binary.BigEndian.AppendUint32([]byte{0x30, 0x80 | 4}, uint32(len(done)+len(text)))
			if _, err := conn.Write(append(append(head, done...), text...)); err != nil {
				return
			}
		}
	})
	d := opened(t, &Source{URL: "ldap://" + address, Base: people, Pool: 1})
	d.s.timeout = time.Minute
	for range 3 {
		if _, ok, err := d.Identify(t.Context(), "ann"); ok || err != nil {
			t.Fatalf("%t, %v", ok, err)
		}
	}
}

// listenAndAnswer serves each connection in a goroutine that ends with the test.
func listenAndAnswer(t *testing.T, answer func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer func() { _ = conn.Close() }()
				answer(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		group.Wait()
	})
	return l.Addr().String()
}
