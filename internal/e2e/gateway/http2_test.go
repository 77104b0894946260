package gateway

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// N03: what HTTP/2 can carry and HTTP/1.1 cannot, and a body that ends before all that was announced of it has come, or
// does not come, are the client's mistakes, and no failure of the API.
func TestUnsendableRequestsOverHTTP2AreClientErrors(t *testing.T) {
	harness.UseProxy(t, harness.OwnProxy) // the other one answers 502, or sends it
	g, up := startHTTP3(t, "servers {\n timeouts {\n read_body 1s\n}\n}")
	up.Answer(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	for name, c := range map[string]struct {
		path, body string
		ends       bool
		want       string
	}{
		"a whole body":       {"/proxied/1", "whole", true, "200"},
		"a body cut short":   {"/proxied/1", "cut", true, "400"},
		"by api_rest":        {"/rest/articles", "cut", true, "400"},
		"a slow body":        {"/proxied/1", "slow", false, "408"},
		"a space in a query": {"/proxied/1?a=b c", "whole", true, "400"},
	} {
		if got := overHTTP2(t, g.API, c.path, c.body, c.ends); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// overHTTP2 posts a body that is announced to have five bytes, and returns the status.
func overHTTP2(t *testing.T, origin, path, body string, ends bool) (status string) {
	t.Helper()
	host := strings.TrimPrefix(origin, "http://")
	config := insecure(nil)
	config.NextProtos = []string{http2.NextProtoTLS}
	conn, err := tls.Dial("tcp", host, config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	var header bytes.Buffer
	encoder := hpack.NewEncoder(&header)
	for _, f := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":path", path}, {":authority", host}, {"content-length", "5"}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	_, _ = io.WriteString(conn, http2.ClientPreface)
	frames := http2.NewFramer(conn, conn)
	frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = frames.WriteSettings()
	_ = frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header.Bytes(), EndHeaders: true})
	_ = frames.WriteData(1, ends, []byte(body))
	for {
		frame, err := frames.ReadFrame()
		if err != nil {
			t.Fatal("no answer:", err)
		}
		if answer, ok := frame.(*http2.MetaHeadersFrame); ok {
			return answer.PseudoValue("status")
		}
	}
}
