package jobapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/store"
)

// Path begins the paths of jobs.
const Path = "/jobs/"

// retryAfter is how many seconds a client should wait between two looks at a job.
const retryAfter = "2"

// Handler answers for the jobs of some queues. All fields are required.
type Handler struct {
	Queues []*job.Queue
	// Trace returns the context of a request for the audit trail.
	Trace func(*http.Request) context.Context
	// Identity returns the header fields of a request that tell the API who calls.
	Identity func(*http.Request) http.Header
	// Address returns the address of a client, and Network its network.
	Address, Network func(*http.Request) string
}

// Submit takes a job, of which the body is given, for a version of the API. The job is durable
// before the client hears of it.
func (h *Handler) Submit(w http.ResponseWriter, c *operation.Call, q *job.Queue, wish Prefer, version string, asked job.Request) error {
	asked.Owner, asked.Header, asked.Version = owner(c), h.Identity(c.Request), version
	if asked.Header == nil {
		asked.Header = make(http.Header)
	}
	asked.Header.Set(operation.KeyHeader, operation.NewKey()) // the same in a retry
	if coding := c.Request.Header["Content-Encoding"]; len(coding) > 0 {
		asked.Header["Content-Encoding"] = coding
	}
	if a := c.Access; a != nil {
		asked.Scopes, asked.Permit = a.Scopes, &job.Permit{Epochs: a.Epochs, KeyID: a.KeyID}
		if !strings.HasPrefix(a.Subject, token.ClientSubject) {
			asked.User = a.Subject
		}
	}
	asked.From, asked.Network = h.Address(c.Request), h.Network(c.Request)
	j, refused, err := q.Submit(h.Trace(c.Request), asked)
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
	w.Header().Set("Location", c.Prefix+Path+j.ID)
	status := http.StatusAccepted
	if j.State.Final() {
		status = http.StatusOK
	}
	return show(w, c.Request, status, j)
}

// ServeJob answers for the job with an id.
func (h *Handler) ServeJob(w http.ResponseWriter, c *operation.Call, id string) error {
	switch c.Request.Method {
	case http.MethodGet, http.MethodHead, http.MethodDelete:
	default:
		return operation.Allow(w, c.Request, "GET, HEAD, DELETE, OPTIONS")
	}
	for _, q := range h.Queues {
		j, err := q.Find(c.Request.Context(), owner(c), id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			continue
		case err != nil:
			return envelope.Unavailable(err)
		case c.Request.Method != http.MethodDelete:
			return show(w, c.Request, http.StatusOK, j)
		}
		return h.cancel(w, c, q, id)
	}
	return envelope.Refuse(http.StatusNotFound, "there is no such job")
}

func (h *Handler) cancel(w http.ResponseWriter, c *operation.Call, q *job.Queue, id string) error {
	refused, err := q.Cancel(h.Trace(c.Request), owner(c), id)
	switch {
	case errors.Is(err, store.ErrNotFound):
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
		h.Set("Retry-After", retryAfter)
	}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, _ = w.Write(body) // a client that has gone can ask again
	return nil
}

// Fair reports whether a client may have one more of limit places, of which the clients at the
// addresses held have one each. Clients without a token share them by their networks.
func Fair(limit int, held []string, from string) bool {
	sources := make([]fairshare.Source, len(held))
	for i, address := range held {
		sources[i] = fairshare.From(address)
	}
	return fairshare.Fits(limit, sources, fairshare.From(from))
}

// owner returns who owns the jobs of a client. Without a guard it is nobody, and knowing the id of
// a job is enough to read it.
func owner(c *operation.Call) job.Owner {
	a := c.Access
	if a == nil {
		return job.Owner{}
	}
	return job.Owner{Client: a.Client, Subject: a.Subject}
}
