package job

import (
	"context"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// TestMain makes the certificate of httptest one that the system trusts.
func TestMain(m *testing.M) {
	s := httptest.NewTLSServer(nil)
	file, err := os.CreateTemp("", "ca-*.pem")
	if err == nil {
		err = pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	}
	if err == nil {
		err = os.Setenv("SSL_CERT_FILE", file.Name())
	}
	// A proxy of the environment would connect in our place.
	_ = os.Setenv("HTTPS_PROXY", "http://127.0.0.1:9")
	_ = os.Setenv("ALL_PROXY", "http://127.0.0.1:9")
	s.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.Remove(file.Name())
	os.Exit(code)
}

// names is a name server of the test's own. An answer is used up when there are more.
type names struct {
	mu     sync.Mutex
	answer map[string][][]string // by name, for one look after the other
	asked  int
}

func (n *names) next(name string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	all := n.answer[strings.TrimSuffix(strings.ToLower(name), ".")]
	if len(all) == 0 {
		return nil
	}
	if len(all) > 1 {
		n.answer[strings.TrimSuffix(strings.ToLower(name), ".")] = all[1:]
	}
	return all[0]
}

// resolver asks it over a pipe, as over TCP.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go n.serve(theirs)
		return ours, nil
	}}
}

func (n *names) serve(c net.Conn) {
	defer c.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		b := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(b); err != nil || len(m.Questions) != 1 {
			return
		}
		q := m.Questions[0]
		m.Response, m.RecursionAvailable, m.Authoritative, m.Additionals = true, true, true, nil
		if q.Type == dnsmessage.TypeA { // each look asks for both kinds; one is enough
			for _, text := range n.next(q.Name.String()) {
				m.Answers = append(m.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(text).As4()},
				})
			}
		}
		out, err := m.Pack()
		if err != nil {
			return
		}
		binary.BigEndian.PutUint16(size[:], uint16(len(out)))
		if _, err := c.Write(append(size[:], out...)); err != nil {
			return
		}
	}
}

// files is an https server on loopback; its certificate is for example.com too.
func files(t *testing.T, serve http.HandlerFunc) (port string) {
	t.Helper()
	s := httptest.NewTLSServer(serve)
	t.Cleanup(s.Close)
	_, port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return port
}

// fetching fetches from 127.0.0.1 and no other address that is not public.
func fetching(t *testing.T, n *names, change ...func(*Fetch)) *fetcher {
	t.Helper()
	f := &Fetch{Allow: []string{"127.0.0.1"}, Max: 1 << 20}
	for _, c := range change {
		c(f)
	}
	var r *net.Resolver
	if n != nil {
		r = n.resolver()
	}
	made, err := newFetcher(Config{Fetch: f}.Defaulted().Fetch, r)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// take fetches a file whole. code is "" when it came.
func take(t *testing.T, f *fetcher, address string) (body string, got *file, code string) {
	t.Helper()
	got, failure := f.openFile(t.Context(), address)
	if failure != nil {
		return "", nil, failure.Code
	}
	defer got.Close()
	b, err := io.ReadAll(got)
	if failure := got.Failure(); failure != nil {
		return string(b), got, failure.Code
	}
	if err != nil {
		t.Errorf("%s: %v without a reason", address, err)
	}
	return string(b), got, ""
}
