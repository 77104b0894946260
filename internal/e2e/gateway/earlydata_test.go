package gateway

import (
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// earlySite has TLS, so Caddy serves HTTP/3, where a client that was here before may send a request in its first
// packets.
const earlySite = "{\n" + harness.Quiet + `
	skip_install_trust
	auto_https disable_redirects
	gatehouse {
		issuer https://$ID
		store bolt $DIR/state.db
		client web {
			secret web-secret-0123456789-0123456789-0123456789
			redirect_uri https://client.example/cb
		}
	}
}
https://$ID {
	tls internal
	oauth_server
}
https://$API {
	tls internal
	handle /guarded/* {
		oauth_guard {
			public /*
		}
		reverse_proxy $UPSTREAM
	}
	handle /limited/* {
		api_limit {
			ip 1000 1h
		}
		reverse_proxy $UPSTREAM
	}
	handle_path /rest/* {
		api_rest {
			to $UPSTREAM
			resource articles
		}
	}
}
`

// N03: a request in early data can be recorded and sent again, from any address.
func TestRequestsInEarlyDataAreRefused(t *testing.T) {
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") // of heldBack
	g, up := startSite(t, earlySite)
	id, api := strings.TrimPrefix(g.ID, "http://"), strings.TrimPrefix(g.API, "http://")
	for _, c := range []struct{ name, host, path string }{
		{"the authorization server", id, "/authorize?client_id=web&response_type=code"},
		{"a guard", api, "/guarded/1"},
		{"a limit", api, "/limited/1"},
		{"api_rest", api, "/rest/articles"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sessions := tls.NewLRUClientSessionCache(1)
			const tries = 10 // the first packet may be lost, or the handshake be over before it is looked at
			for range tries {
				first, _ := overHTTP3(t, sessions, c.host, c.path, false)
				if first == http.StatusTooEarly || first == 0 {
					t.Fatalf("on the established connection: %d", first)
				}
				up.Hits()
				if status, early := overHTTP3(t, sessions, c.host, c.path, true); early && status == http.StatusTooEarly {
					if hits := up.Hits(); len(hits) != 0 {
						t.Errorf("the upstream saw %v", hits)
					}
					return
				}
			}
			t.Error("early data was never refused")
		})
	}
	t.Run("early data of a proxy in front", func(t *testing.T) {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: insecure(nil)}}
		defer client.CloseIdleConnections()
		for _, address := range []string{"https://" + id + "/authorize", "https://" + api + "/guarded/1", "https://" + api + "/limited/1", "https://" + api + "/rest/articles"} {
			p := harness.Send(t, client, http.MethodGet, address, "", "Early-Data", "1")
			if p.Status != http.StatusTooEarly {
				t.Errorf("%s: %d %s", address, p.Status, p.Body)
			}
		}
		if hits := up.Hits(); len(hits) != 0 {
			t.Errorf("the upstream saw %v", hits)
		}
	})
}

func insecure(sessions tls.ClientSessionCache) *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, ServerName: "localhost", ClientSessionCache: sessions} //nolint:gosec // Caddy's own CA
}

// overHTTP3 gets a path on a connection of its own, in early data or once it is established, and tells the status and
// whether early data was accepted.
func overHTTP3(t *testing.T, sessions tls.ClientSessionCache, host, path string, early bool) (status int, accepted bool) {
	t.Helper()
	port := must(net.ResolveUDPAddr("udp", strings.Replace(host, "localhost", "127.0.0.1", 1)))
	socket := &heldBack{PacketConn: must(net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}))}
	transport := &quic.Transport{Conn: socket}
	defer func() { _ = transport.Close(); _ = socket.Close() }()
	config := insecure(sessions)
	config.NextProtos = []string{http3.NextProtoH3}
	if early {
		socket.until = time.Now().Add(50 * time.Millisecond)
	}
	conn, err := transport.DialEarly(t.Context(), port, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseWithError(0, "") }()
	r := must(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+host+path, nil))
	if early {
		r.Method = http3.MethodGet0RTT
	} else {
		<-conn.HandshakeComplete()
	}
	res, err := new(http3.Transport).NewClientConn(conn).RoundTrip(r)
	if err != nil {
		t.Logf("over HTTP/3: %v", err) // early data may be rejected
		return 0, false
	}
	_ = res.Body.Close()
	if !early { // what the next connection needs comes after the handshake
		for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if s, ok := sessions.Get("localhost"); ok {
				sessions.Put("localhost", s)
				break
			}
		}
	}
	return res.StatusCode, conn.ConnectionState().Used0RTT
}

// heldBack is a socket that hears nothing for a while, so that a handshake takes its time.
type heldBack struct {
	net.PacketConn
	until time.Time
}

func (h *heldBack) ReadFrom(b []byte) (int, net.Addr, error) {
	n, addr, err := h.PacketConn.ReadFrom(b)
	time.Sleep(time.Until(h.until))
	return n, addr, err
}
