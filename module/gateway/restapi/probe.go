package restapi

import (
	"io"
	"maps"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/login"
)

// probe holds an answer back while it may say that the session is over: the beginning of
// one in JSON, at most login.MaxAnswer bytes, where a condition asks for what is in it.
type probe struct {
	caddyhttp.ResponseWriterWrapper
	plan   *login.Plan
	before http.Header     // what stood there before the handler
	hidden *conceal.Values // has fields of the answer; nil: none
	status int
	body   []byte
	cut    bool
	over   bool
	passed bool
}

// WriteHeader decides what the status and the type decide. Informational answers pass.
func (p *probe) WriteHeader(status int) {
	switch {
	case p.status != 0:
	case status < http.StatusOK && status != http.StatusSwitchingProtocols:
		p.ResponseWriter.WriteHeader(status)
	default:
		p.status = status
		p.hidden.Restore(p.Header())
		media, _ := envelope.MediaType(p.Header())
		p.over = p.plan.OverByStatus(status)
		if !p.over && (!p.plan.Reads() || responsewriter.Streams(p.Header()) || !envelope.IsJSON(media) && !envelope.MaybeJSON(media)) {
			_ = p.pass() // there is no body yet
		}
	}
}

// Write holds as much as the limit allows.
func (p *probe) Write(text []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	if p.passed {
		return p.ResponseWriter.Write(text)
	}
	room := min(login.MaxAnswer-len(p.body), len(text))
	p.body = append(p.body, text[:room]...)
	if room == len(text) {
		return len(text), nil
	}
	p.cut = true
	if p.over = p.over || p.plan.OverByBody(p.Header(), p.body, true); p.over {
		return len(text), nil
	}
	if err := p.pass(); err != nil {
		return 0, err
	}
	_, err := p.ResponseWriter.Write(text[room:])
	return len(text), err
}

// ReadFrom keeps the body from passing by.
func (p *probe) ReadFrom(from io.Reader) (int64, error) {
	if p.WriteHeader(http.StatusOK); p.passed {
		return p.ResponseWriterWrapper.ReadFrom(from)
	}
	return io.Copy(struct{ io.Writer }{p}, from)
}

// FlushError does nothing while the answer is held.
func (p *probe) FlushError() error {
	if p.WriteHeader(http.StatusOK); !p.passed {
		return nil
	}
	return http.NewResponseController(p.ResponseWriter).Flush()
}

// Flush is FlushError without the error.
func (p *probe) Flush() { _ = p.FlushError() }

// ended reports, at the end of the answer, whether it says that the session is over. Otherwise
// it is passed on. One that is over can still be passed, or be left for another answer.
func (p *probe) ended() bool {
	if p.status == 0 || p.passed {
		return false
	}
	if !p.over {
		p.over = p.plan.OverByBody(p.Header(), p.body, p.cut)
	}
	if !p.over {
		_ = p.pass() // the next write, or nobody, tells of a client that has gone
		return false
	}
	held := p.Header().Clone()
	clear(p.Header())
	maps.Copy(p.Header(), p.before)
	p.before = held
	return true
}

// pass sends what is held.
func (p *probe) pass() error {
	p.passed = true
	if p.over {
		clear(p.Header())
		maps.Copy(p.Header(), p.before)
		if p.cut {
			p.Header().Del("Content-Length")
		}
	}
	p.ResponseWriter.WriteHeader(p.status)
	if len(p.body) == 0 {
		return nil
	}
	_, err := p.ResponseWriter.Write(p.body)
	return err
}
