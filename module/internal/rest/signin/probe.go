package signin

import (
	"maps"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/login"
)

// probe holds an answer while it may say that the session is over: the beginning of an answer in
// JSON, at most login.MaxAnswer bytes, if a condition reads it.
type probe struct {
	held   *responsewriter.Hold
	plan   *login.Plan
	answer http.Header // the header of an answer that says the session is over
	over   bool
}

func newProbe(w http.ResponseWriter, plan *login.Plan, concealed *conceal.Values) *probe {
	p := &probe{held: responsewriter.NewHold(w, login.MaxAnswer), plan: plan}
	p.held.Decide = func() {
		h := p.held.Header()
		concealed.Restore(h)
		media, _ := envelope.MediaType(h)
		p.over = plan.OverByStatus(p.held.Status())
		if !p.over && (!plan.Reads() || responsewriter.Streams(h) || !envelope.IsJSON(media) && !envelope.MaybeJSON(media)) {
			_ = p.held.Pass() // there is no body yet
		}
	}
	p.held.Full = func() bool {
		p.over = p.over || plan.OverByBody(p.held.Header(), p.held.Body(), true)
		return p.over
	}
	return p
}

// isOver reports, at the end of an answer, whether it says that the session is over. If not, the
// answer passes. Otherwise it is kept, to be passed on or replaced by another one.
func (p *probe) isOver() bool {
	if p.held.Status() == 0 || p.held.Passed() {
		return false
	}
	h := p.held.Header()
	if !p.over {
		p.over = p.plan.OverByBody(h, p.held.Body(), p.held.Cut())
	}
	if !p.over {
		_ = p.held.Pass() // fails only when the client has gone
		return false
	}
	p.answer = h.Clone()
	clear(h)
	maps.Copy(h, p.held.Before())
	return true
}

// passAnswer passes an answer that says the session is over.
func (p *probe) passAnswer() error {
	h := p.held.Header()
	clear(h)
	maps.Copy(h, p.answer)
	if p.held.Cut() {
		h.Del("Content-Length")
	}
	return p.held.Pass()
}
