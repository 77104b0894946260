package restapi

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// askAgain is how many seconds a client should leave between two looks at a job.
const askAgain = "2"

// make takes a job, of which the body is given. It is durable before the client hears of it.
func (p *jobs) make(w http.ResponseWriter, c *call, q *job.Queue, wish job.Prefer, asked job.Request) error {
	asked.Owner, asked.Header, asked.Version = owner(c.Request), handler.IdentityHeader(c.Request), c.version()
	if coding := c.Request.Header["Content-Encoding"]; len(coding) > 0 {
		if asked.Header == nil {
			asked.Header = make(http.Header)
		}
		asked.Header["Content-Encoding"] = coding
	}
	if a := handler.Caller(c.Request); a != nil {
		asked.Scopes = a.Scopes
	}
	asked.From = handler.ClientAddress(c.Request)
	j, refused, err := q.Submit(p.app.Traced(c.Request), asked)
	switch {
	case err != nil:
		return envelope.Unavailable(err)
	case refused != nil:
		return refused
	}
	if wish.Waits {
		j = q.Wait(c.Request.Context(), j, wish.Wait)
	}
	if applied := wish.Applied(); applied != "" {
		w.Header().Set("Preference-Applied", applied)
	}
	w.Header().Set("Location", c.Prefix+jobsPath+j.ID)
	status := http.StatusAccepted
	if j.State.Final() {
		status = http.StatusOK
	}
	return show(w, c.Request, status, j)
}

// one answers for one job.
func (p *jobs) one(w http.ResponseWriter, c *call, id string) error {
	switch c.Request.Method {
	case http.MethodGet, http.MethodHead, http.MethodDelete:
	default:
		return allow(w, c.Request, "GET, HEAD, DELETE, OPTIONS")
	}
	for _, q := range p.queues {
		j, err := q.Find(c.Request.Context(), owner(c.Request), id)
		switch {
		case errors.Is(err, job.ErrNotFound):
			continue
		case err != nil:
			return envelope.Unavailable(err)
		case c.Request.Method != http.MethodDelete:
			return show(w, c.Request, http.StatusOK, j)
		}
		return p.cancel(w, c, q, id)
	}
	return envelope.Refuse(http.StatusNotFound, "there is no such job")
}

func (p *jobs) cancel(w http.ResponseWriter, c *call, q *job.Queue, id string) error {
	refused, err := q.Cancel(p.app.Traced(c.Request), owner(c.Request), id)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return envelope.Refuse(http.StatusNotFound, "there is no such job")
	case err != nil:
		return envelope.Unavailable(err)
	case refused != nil:
		return refused
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func show(w http.ResponseWriter, r *http.Request, status int, j *job.Job) error {
	body := j.JSON()
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if !j.State.Final() {
		h.Set("Retry-After", askAgain)
	}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, _ = w.Write(body) // who has gone can ask again
	return nil
}

// fairly divides the places of callers without a token by their networks.
func fairly(limit int, held []string, from string) bool {
	sources := make([]fairshare.Source, len(held))
	for i, address := range held {
		sources[i] = fairshare.From(address)
	}
	return fairshare.Fits(limit, sources, fairshare.From(from))
}

// owner is who a guard in front let pass. Without one it is nobody, and knowing a job's id
// is all it takes.
func owner(r *http.Request) job.Owner {
	a := handler.Caller(r)
	if a == nil {
		return job.Owner{}
	}
	return job.Owner{Client: a.Client, Subject: a.Subject}
}
