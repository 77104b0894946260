package gateway

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// http3Site has TLS, so Caddy serves HTTP/3.
const http3Site = "{\n" + harness.Quiet + `
	skip_install_trust
	auto_https disable_redirects
	gatehouse {
		issuer https://$ID
		store bolt $DIR/state.db
		scope read "Read"
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
			cost 100 GET /limited/search
		}
		reverse_proxy $UPSTREAM
	}
	handle_path /rest/* {
		api_rest {
			to $UPSTREAM
			resource articles
		}
	}
	handle /called/* {
		oauth_guard {
			scope read * /called/*
			cors https://app.example
		}
		reverse_proxy $UPSTREAM
	}
	handle /asked/* {
		oauth_guard {
			scope read * /asked/*
			cors upstream
		}
		reverse_proxy $UPSTREAM
	}
	handle /proxied/* {
		api_errors
		api_proxy $UPSTREAM
	}
}
`

// startHTTP3 loads the site, with more global options, and waits for its certificates, which Caddy makes in the background.
func startHTTP3(t *testing.T, options ...string) (*harness.Gateway, *harness.Upstream) {
	t.Helper()
	g, up := startSite(t, strings.Replace(http3Site, "skip_install_trust", strings.Join(append(options, "skip_install_trust"), "\n"), 1))
	for _, origin := range []string{g.ID, g.API} {
		within(t, 10*time.Second, "a certificate", func() bool {
			conn, err := tls.Dial("tcp", strings.TrimPrefix(origin, "http://"), insecure(nil))
			if err == nil {
				_ = conn.Close()
			}
			return err == nil
		})
	}
	return g, up
}

// N03: where a client was before, it may send a request in its first packets: a request in early data can be recorded and sent again, from any address.
func TestEarlyDataRequestsAreRefused(t *testing.T) {
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") // of heldBack
	g, up := startHTTP3(t)
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

// N03: a client that resets its half of a stream has cut off its own body, which is no failure of the API.
func TestBodyCutOffOverHTTP3IsAClientError(t *testing.T) {
	harness.UseProxy(t, harness.OwnProxy) // the other one answers 502
	g, up := startHTTP3(t)
	up.Answer(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	host := strings.TrimPrefix(g.API, "http://")
	stream, err := dialHTTP3(t, host).OpenRequestStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := must(http.NewRequestWithContext(t.Context(), http.MethodDelete, "https://"+host+"/proxied/1", nil)) // of a POST, its Content-Length: 0 would be sent
	if err := stream.SendRequestHeader(r); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "the request at the API", func() bool { return len(up.Hits()) == 1 }) // a reset overtakes what is unread
	stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
	res, err := stream.ReadResponse()
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("%d, expected 400", res.StatusCode)
	}
}

// N03: a WebSocket over HTTP/3 begins with CONNECT, and reaches the upstream as a GET.
func TestHTTP3WebSocketCostsLikeAGET(t *testing.T) {
	g, up := startHTTP3(t)
	host := strings.TrimPrefix(g.API, "http://")
	client := dialHTTP3(t, host)
	<-client.ReceivedSettings() // whether it takes such a CONNECT
	r := must(http.NewRequestWithContext(t.Context(), http.MethodConnect, "https://"+host+"/limited/search", nil))
	r.Proto = "websocket"
	stream, err := client.OpenRequestStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SendRequestHeader(r); err != nil {
		t.Fatal(err)
	}
	res, err := stream.ReadResponse()
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	hits := up.Hits()
	if len(hits) != 1 || hits[0].Method != http.MethodGet {
		t.Fatalf("the upstream saw %v", hits)
	}
	if left := res.Header.Get("X-RateLimit-Remaining"); res.StatusCode != http.StatusOK || left != "900" {
		t.Errorf("%d, %s of 1000 remain", res.StatusCode, left)
	}
}

// A preflight has no body, which a browser does not announce over HTTP/3.
func TestPreflightsOverHTTP3AreAnswered(t *testing.T) {
	g, up := startHTTP3(t)
	up.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "https://app.example")
	})
	host := strings.TrimPrefix(g.API, "http://")
	client := dialHTTP3(t, host)
	for path, want := range map[string]int{"/called/1": http.StatusNoContent, "/asked/1": http.StatusOK} {
		r := must(http.NewRequestWithContext(t.Context(), http.MethodOptions, "https://"+host+path, nil))
		r.Header = http.Header{"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"PUT"}}
		res, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if origin := res.Header.Get("Access-Control-Allow-Origin"); res.StatusCode != want || origin != "https://app.example" {
			t.Errorf("%s: %d for %q", path, res.StatusCode, origin)
		}
	}
	if hits := up.Hits(); len(hits) != 1 || hits[0].Method != http.MethodOptions || hits[0].ContentLength != 0 {
		t.Errorf("the upstream saw %v", hits)
	}
}

// dialHTTP3 connects to a site, until the test ends.
func dialHTTP3(t *testing.T, host string) *http3.ClientConn {
	t.Helper()
	config := insecure(nil)
	config.NextProtos = []string{http3.NextProtoH3}
	conn, err := quic.DialAddr(t.Context(), strings.Replace(host, "localhost", "127.0.0.1", 1), config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseWithError(0, "") })
	return new(http3.Transport).NewClientConn(conn)
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
