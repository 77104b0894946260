package apiproxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/net/http/httpguts"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/http1"
	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
)

// via is what is appended to Via in the answers of servers.
var via = [2]string{"1.0 Caddy", "1.1 Caddy"}

// ServeHTTP sends the request to a server and passes its answer on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if p.forwarded || switchesProtocol(r) {
		return p.fallback.ServeHTTP(w, r, next)
	}
	c := &call{proxy: p, w: w, r: conceal.Reveal(withoutOptions(r)), begun: time.Now()}
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(c.placeholder)
	}
	return c.serve()
}

// switchesProtocol reports whether the client asks to speak something else on its connection.
func switchesProtocol(r *http.Request) bool {
	if len(r.Header["Upgrade"]) == 0 {
		return r.Method == http.MethodConnect
	}
	return httpguts.HeaderValuesContainsToken(r.Header["Connection"], "upgrade")
}

// withoutOptions returns the request without the fields that its Connection field names, which end
// here. Only rare requests name any.
func withoutOptions(r *http.Request) *http.Request {
	names := func(v string) bool {
		return !strings.EqualFold(v, "keep-alive") && (!strings.EqualFold(v, "close") || r.Header["Close"] != nil)
	}
	if !slices.ContainsFunc(r.Header["Connection"], names) {
		return r
	}
	own := *r
	own.Header = maps.Clone(r.Header)
	for _, line := range r.Header["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			delete(own.Header, http.CanonicalHeaderKey(strings.Trim(name, " \t")))
		}
	}
	return &own
}

// call is one request on its way through the proxy.
type call struct {
	proxy   *Proxy
	w       http.ResponseWriter
	r       *http.Request
	request http1.Request
	set     [5]http1.Field
	body    *endNoting // with full duplex; else nil

	server         *server
	begun          time.Time
	latency, whole time.Duration
	status         int
	retries        int
}

// serve sends the request to one server after the other until one is reached.
func (c *call) serve() error {
	c.prepare()
	tried := uint64(0)
	s, n := c.proxy.choose(tried, c.begun)
	for ; ; c.retries++ {
		c.server = s
		res, err := c.send(s)
		if err == nil {
			return c.answer(res)
		}
		var unreached *http1.DialError
		if !errors.As(err, &unreached) {
			return c.fail(err)
		}
		s.failures.Inc()
		c.begun = time.Now() // times are those of the server that answers
		if len(c.proxy.servers) > 1 {
			s.leaveOut(c.begun.Add(time.Duration(c.proxy.FailDuration)))
			c.proxy.log.Warn("server cannot be reached and is skipped for fail_duration", "upstream", s.text, "error", err)
		}
		tried |= 1 << n
		if s, n = c.proxy.choose(tried, c.begun); s == nil {
			c.closeUnread()
			return caddyhttp.Error(http.StatusBadGateway, err)
		}
	}
}

// prepare makes the request that is sent.
func (c *call) prepare() {
	r := c.r
	path := r.URL.EscapedPath()
	if path == "" && r.URL.Opaque == "" { // a target such as a:b is no path, and is refused
		path = "/"
	}
	if r.Method == http.MethodOptions && r.URL.Path == "*" {
		path = "*"
	}
	if r.URL.ForceQuery && r.URL.RawQuery == "" {
		path += "?"
	}
	c.request = http1.Request{Method: r.Method, Path: path, Query: r.URL.RawQuery, Host: r.Host, Header: r.Header, Trailer: r.Trailer, Length: r.ContentLength}
	if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
		c.request.Body = r.Body
		if r.ProtoMajor == 1 && handler.IsFullDuplex(r) {
			c.body = &endNoting{Reader: r.Body}
			c.request.Body = c.body
		}
		c.request.StopBody = c.stopBody
		if r.ContentLength < 0 && !usuallyHasBody(r.Method) {
			c.dropEmptyBody()
		}
	}
	set := forwardedFields(r, c.set[:0])
	hops := append(slices.Clone(r.Header["Via"]), versionOf(r)+" Caddy")
	set = append(set, http1.Field{Name: "Via", Value: strings.Join(hops, ", ")})
	if r.TLS != nil && !r.TLS.HandshakeComplete {
		set = append(set, http1.Field{Name: "Early-Data", Value: "1"})
	}
	c.request.Set = set
}

// usuallyHasBody reports whether servers expect a body with a method. Those of other requests may not read it.
func usuallyHasBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// dropEmptyBody looks whether a body of unknown length has anything in it. HTTP/2 and HTTP/3 do not tell before its end, and
// an empty body in chunks is taken for the next request by a server that does not read it.
func (c *call) dropEmptyBody() {
	first := make([]byte, 1)
	switch _, err := io.ReadFull(c.request.Body, first); {
	case err == nil:
		c.request.Body = io.MultiReader(bytes.NewReader(first), c.request.Body)
	case errors.Is(err, io.EOF) && len(c.r.Trailer) == 0:
		c.request.Body, c.request.StopBody, c.request.Length = nil, nil, 0
	} // any other error is met again when the body is sent
}

// endNoting notes the end of a body.
type endNoting struct {
	io.Reader
	ended atomic.Bool
}

func (b *endNoting) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended.Store(true)
	}
	return n, err
}

// closeUnread closes the connection after the answer if the body has not been read to its end: with full duplex net/http may
// take what is left for the next request.
func (c *call) closeUnread() {
	if c.body != nil && !c.body.ended.Load() {
		c.closeConnection()
	}
}

// closeConnection closes the client's connection after the answer.
func (c *call) closeConnection() { c.w.Header().Set("Connection", "close") }

// stopBody ends the reading of a body that the server has not waited for. Over HTTP/1, what is unread must not become
// the next request.
func (c *call) stopBody() {
	if c.r.ProtoMajor == 1 {
		c.closeConnection()
	}
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Unix(1, 0))
}

// versionOf is the version of HTTP that a request came with.
func versionOf(r *http.Request) string {
	switch r.ProtoMajor {
	case 2:
		return "2.0"
	case 3:
		return "3.0"
	}
	if r.ProtoMinor == 1 {
		return "1.1"
	}
	return "1." + strconv.Itoa(r.ProtoMinor)
}

// send sends the request to a server.
func (c *call) send(s *server) (*http1.Response, error) {
	s.active.Add(1)
	if c.proxy.stripHost {
		c.request.Host = s.dial
	} else if c.r.Host == "" && s.network == "tcp" { // as HTTP/1.0 permits
		c.request.Host = s.dial
	}
	res, err := s.transport.RoundTrip(c.r.Context(), &c.request, c.inform)
	c.latency = time.Since(c.begun)
	if err != nil {
		s.active.Add(-1)
		return nil, err
	}
	s.outUntil.Store(0)
	return res, nil
}

// inform passes on an answer with a status of 1xx.
func (c *call) inform(status int, fields http.Header) {
	h := c.w.Header()
	own := h.Clone()
	for name, values := range fields {
		h[name] = append(h[name], values...)
	}
	c.w.WriteHeader(status)
	clear(h)
	maps.Copy(h, own)
}

// answer passes on the answer. One that ends too early aborts the client's connection, or stream,
// since its status has been sent.
func (c *call) answer(res *http1.Response) error {
	defer c.server.active.Add(-1)
	if c.r.ProtoMajor == 1 && res.IsEarly() {
		defer c.answerEarly()()
	}
	c.closeUnread()
	defer res.Close()
	c.status = res.Status
	h := c.w.Header()
	delete(h, "Server")
	h["Via"] = append(h["Via"], via[res.Version()])
	res.CopyHeader(h)
	if announced := res.AnnouncedTrailer(); announced != "" {
		h.Add("Trailer", announced)
	}
	if c.request.StopBody != nil && res.IsBodyUnsent() {
		c.request.StopBody() // or Go's server would wait for it before it sends the answer
	}
	c.w.WriteHeader(res.Status)
	var flush func() error
	if streams(res) {
		flush = c.flush
		if res.Header("Content-Type") == "" {
			_ = flush() // or one would be guessed from what came first
		}
	}
	err := res.WriteBody(c.w, flush)
	c.whole = time.Since(c.begun)
	if err != nil {
		var cut *http1.ReadError
		if errors.As(err, &cut) && c.r.Context().Err() == nil {
			c.proxy.log.Warn("the answer ends too early", "upstream", c.server.text, "error", err)
		}
		_ = http.NewResponseController(c.w).Flush()
		panic(http.ErrAbortHandler)
	}
	if res.HasTrailer() {
		_ = c.flush() // trailers need chunks
		res.AddTrailer(h)
	}
	return nil
}

// flush sends what was written to the client. There is none where the answer is recorded.
func (c *call) flush() error {
	err := http.NewResponseController(c.w).Flush()
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// answerEarly is for an answer over HTTP/1 that begins while the client still sends its body. Without full duplex, net/http
// would discard parts of the body that are meant for the server. What is unread in the end must not become the next
// request, so the connection is closed. The caller calls end when nothing reads the body any more.
func (c *call) answerEarly() (end func()) {
	connection := http.NewResponseController(c.w)
	_ = connection.EnableFullDuplex() // net/http has it for every HTTP/1 request
	c.closeConnection()
	return func() { _ = connection.SetReadDeadline(time.Now().Add(lingering)) }
}

// lingering is how long a client that was answered early may go on sending before its connection is closed. If it were
// closed at once, the client might lose the answer.
const lingering = 2 * time.Second

// isCutOff reports whether a client ended a body too early, over HTTP/3 by resetting its half of the stream. Over HTTP/2
// net/http has no type for that, and its other errors are those of clients that have gone.
func (c *call) isCutOff(err error) bool {
	reset, ok := errors.AsType[*http3.Error](err)
	return ok && reset.Remote || errors.Is(err, io.ErrUnexpectedEOF) || c.r.ProtoMajor == 2
}

// isTimeout reports whether an error is that of a time limit.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// streams reports whether parts of the answer are passed on as they come.
func streams(res *http1.Response) bool {
	if res.Length < 0 || strings.TrimSpace(res.Header("Incremental")) == "?1" {
		return true
	}
	media := res.Header("Content-Type")
	if !strings.HasPrefix(media, "text/event-stream") {
		return false
	}
	media, _, err := mime.ParseMediaType(media)
	return err == nil && media == "text/event-stream"
}

// fail returns an error with the status that the client is answered. A client that has gone is not
// answered: the status is for the access log.
func (c *call) fail(err error) error {
	c.closeUnread()
	var body *http1.BodyError
	var request *http1.RequestError
	switch {
	case errors.Is(err, context.Canceled):
		c.w.WriteHeader(499)
		return nil
	case errors.As(err, &body) && isTimeout(body.Err):
		return caddyhttp.Error(http.StatusRequestTimeout, err)
	case errors.As(err, &body) && c.isCutOff(body.Err), errors.As(err, &request):
		return caddyhttp.Error(http.StatusBadRequest, err)
	case isTimeout(err):
		return caddyhttp.Error(http.StatusGatewayTimeout, err)
	}
	return caddyhttp.Error(http.StatusBadGateway, err)
}

// placeholder returns what the proxy knows of a call. What comes with an answer is unknown without one, as in reverse_proxy.
func (c *call) placeholder(name string) (any, bool) {
	name, ours := strings.CutPrefix(name, "http.reverse_proxy.")
	if !ours || c.server == nil {
		return nil, false
	}
	switch name {
	case "upstream.address":
		return c.server.text, true
	case "upstream.hostport":
		return c.server.dial, true
	case "upstream.latency_ms":
		return c.latency.Seconds() * 1e3, c.status != 0
	case "upstream.duration_ms":
		return c.whole.Seconds() * 1e3, c.status != 0
	case "status_code":
		return c.status, c.status != 0
	case "retries":
		return c.retries, true
	}
	return nil, false
}
