package gateway

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// dialectSite is an API whose failures have the status of success.
const dialectSite = "{\n" + harness.Quiet + `
}
http://$API {
	api_errors {
		from json /code /message /field
		fail_when /code == E_GONE status 410
		fail_when /success == false 0 status 422
	}
	reverse_proxy $UPSTREAM
}
`

const failure = `{"success":false,"message":"Too short.","field":"title"}`

// dialect starts the site, and a client that undoes no compression by itself.
func dialect(t *testing.T, answer http.HandlerFunc) (*harness.Gateway, *http.Client) {
	t.Helper()
	up := harness.NewUpstream(t)
	up.Answer(answer)
	g := harness.Prepare(t, "$UPSTREAM", up.Addr)
	g.Start(t, dialectSite)
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return g, &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

func TestFailureWithSuccessStatusGetsItsOwnStatus(t *testing.T) {
	g, client := dialect(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Etag", `"e"`)
		body := io.Writer(w)
		switch r.URL.Path {
		case "/gzip": // although the client did not ask for it
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			body = z
		case "/hints":
			w.Header().Set("Link", "</a.css>; rel=preload; as=style")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Del("Link")
		case "/notice":
			_, _ = io.WriteString(w, "<br />\n<b>Notice</b>: Undefined index<br />\n")
		}
		_, _ = io.WriteString(body, failure)
	})
	for _, path := range []string{"/plain", "/gzip", "/hints", "/notice"} {
		hints := 0
		ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
			Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { hints = code; return nil },
		})
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.API+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := harness.Do(t, client, r)
		e := wantEnvelope(t, p, http.StatusUnprocessableEntity, "validation_failed")
		if e["message"] != "Too short." || e["field"] != "title" || p.Header.Get("Etag")+p.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %v %s", path, p.Header, p.Body)
		}
		if (hints == http.StatusEarlyHints) != (path == "/hints") {
			t.Errorf("%s: %d", path, hints)
		}
	}
}

func TestUncheckedAnswersPassUnchanged(t *testing.T) {
	const etag = `"e"`
	g, client := dialect(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Etag", etag)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(failure))
	})
	for _, c := range []struct {
		method, name, value, body string
		status                    int
	}{
		{"GET", "If-None-Match", etag, "", http.StatusNotModified},
		{"GET", "Range", "bytes=0-15", failure[:16], http.StatusPartialContent},
		{"HEAD", "X-Other", "x", "", http.StatusOK},
	} {
		p := harness.Send(t, client, c.method, g.API+"/x", "", c.name, c.value)
		if p.Status != c.status || p.Body != c.body || p.Header.Get("Etag") != etag {
			t.Errorf("%s %s: %d %v %s", c.method, c.name, p.Status, p.Header, p.Body)
		}
	}
}

func TestEventsPassThroughDialectUnchanged(t *testing.T) {
	received := make(chan struct{})
	g, client := dialect(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 2 {
			_, _ = io.WriteString(w, "data: "+failure+"\n\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-received:
			case <-time.After(10 * time.Second):
				return
			}
		}
	})
	resp, err := client.Get(g.API + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for range 2 {
		if !lines.Scan() || lines.Text() != "data: "+failure || !lines.Scan() {
			t.Fatal(lines.Text(), lines.Err())
		}
		received <- struct{}{}
	}
}

// TestBrokenAnswerIsNotClosedCleanly: neither one that the upstream breaks off,
// nor one that is a failure when its beginning was passed on already.
func TestBrokenAnswerIsNotClosedCleanly(t *testing.T) {
	long := `{"list":[0` + strings.Repeat(`,1234567`, 40<<10) + `]`
	g, client := dialect(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/dies-early":
			_, _ = io.WriteString(w, `{"list":[1,`)
		case "/dies-as-a-failure":
			_, _ = io.WriteString(w, `{"success":false,`)
		case "/dies-late":
			_, _ = io.WriteString(w, long)
		case "/fails-late":
			_, _ = io.WriteString(w, long+`,"success":false}`)
			return
		case "/succeeds-late":
			_, _ = io.WriteString(w, long+`,"success":true}`)
			return
		}
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	for path, most := range map[string]int{"/dies-early": 0, "/dies-as-a-failure": 0, "/dies-late": len(long), "/fails-late": len(long) + 1} {
		resp, err := client.Get(g.API + path)
		if err != nil {
			continue // aborted before the header
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK && err == nil || len(body) > most && resp.StatusCode == http.StatusOK || strings.Contains(string(body), "success") {
			t.Errorf("%s: %d, %d bytes, %v", path, resp.StatusCode, len(body), err)
		}
	}
	if p := harness.Send(t, client, http.MethodGet, g.API+"/succeeds-late", ""); p.Body != long+`,"success":true}` {
		t.Errorf("%d, %d bytes", p.Status, len(p.Body))
	}
}
