package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/store"
)

// admitTime bounds how long a request waits for its job to be stored.
const admitTime = 10 * time.Second

// Request is a client's request for a job.
type Request struct {
	Owner Owner
	// From is the address of a caller without a token (IPv6: of its /64).
	From        string
	Version     string
	Body        []byte
	ContentType string
	Header      http.Header // who calls, for the upstream
	Scopes      []string
}

// MaxBody is the most bytes of a request's body.
const MaxBody = maxBody

// ErrUnknown: the store did not say whether it stored the job.
var ErrUnknown = errors.New("job: it may have been stored, or not")

// Submit stores a job. A job that it returns is durable. An error is a fault of the store; with
// ErrUnknown there may be a job all the same.
func (q *Queue) Submit(ctx context.Context, r Request) (*Job, *envelope.Refusal, error) {
	in, refused := q.input(ctx, r)
	if refused != nil {
		return nil, refused, nil
	}
	j, refused, err := q.enter(ctx, r, in)
	if refused != nil {
		e := EventQueueFull
		if refused.Status == http.StatusTooManyRequests {
			e = EventClientFull
		}
		q.Observer.Job(ctx, e, r.unmade(q))
	}
	return j, refused, err
}

// unmade is a job that was not made, for the observer.
func (r Request) unmade(q *Queue) *Job {
	return &Job{Queue: q.Name, Version: r.Version, Owner: r.Owner}
}

// enter stores a job if there is room for it.
func (q *Queue) enter(ctx context.Context, r Request, in *Input) (*Job, *envelope.Refusal, error) {
	ctx, cancel := context.WithTimeout(ctx, admitTime)
	defer cancel()
	select {
	case q.admit <- struct{}{}:
		defer func() { <-q.admit }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	now := q.Now()
	j := &Job{
		// In the order in which they were made, which is that of the index.
		ID:    fmt.Sprintf("%012x", uint64(now.UnixMilli())&(1<<48-1)) + q.NewID(),
		Queue: q.Name, Version: r.Version, Owner: r.Owner, State: Queued, Input: in, Created: now,
	}
	value, err := encode(j)
	if err != nil {
		return nil, nil, err
	}
	m := mark{ID: j.ID, Client: r.Owner.Client, Made: now}
	if m.Client == "" {
		m.From = r.From
	}
	if refused, err := q.room(ctx, m); refused != nil || err != nil {
		return nil, refused, err
	}
	expires := now.Add(maxAge)
	// The mark first: a job without one is never found, a mark without one is cleared away.
	if err := q.createMark(ctx, m, expires); err != nil {
		q.withdraw(ctx, j.ID)
		return nil, nil, err
	}
	// Again, with its own: of several nodes that fill the last place at the same time none
	// goes beyond it, at the price that all may be refused.
	refused, err := q.room(ctx, m)
	if refused == nil && err == nil {
		if _, err = q.Store.Create(ctx, store.Record{Key: jobKey(j.ID), Value: value, Expires: expires}); err != nil {
			err = fmt.Errorf("%w: %w", ErrUnknown, err)
		}
	}
	if refused != nil || err != nil {
		q.withdraw(ctx, j.ID)
		return nil, refused, err
	}
	q.Observer.Job(ctx, EventAccepted, j)
	q.nudge()
	return j, nil, nil
}

// withdraw removes the mark of a job that is over or was never acknowledged. If that fails, the
// loop does it later.
func (q *Queue) withdraw(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = q.deleteMark(ctx, id)
}

// input reads what a job is to do.
func (q *Queue) input(ctx context.Context, r Request) (*Input, *envelope.Refusal) {
	if len(r.Body) > maxBody {
		return nil, envelope.Refuse(http.StatusRequestEntityTooLarge, "")
	}
	in := &Input{Header: r.Header, Scopes: r.Scopes}
	if q.Fetch == nil {
		in.Body, in.ContentType = r.Body, r.ContentType
		return in, nil
	}
	address, refused := member(r.Body, q.Fetch.Field)
	if refused != nil {
		return nil, refused
	}
	in.URL = address
	forbidden, refused := q.fetcher.check(ctx, address)
	if forbidden {
		q.Observer.File(ctx, FileForbidden, r.unmade(q))
	}
	return in, refused
}

// member reads the one member that a body may have.
func member(body []byte, name string) (string, *envelope.Refusal) {
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", envelope.Refuse(http.StatusBadRequest, "the body must be a JSON object")
	}
	var text string
	var seen bool
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return "", envelope.Refuse(http.StatusBadRequest, "the body is not JSON")
		}
		if key != name || seen {
			return "", envelope.Invalid(strings.ToValidUTF8(key[:min(len(key), 100)], ""), "is not a member of this body, or was given twice")
		}
		seen = true
		var value any
		if err := d.Decode(&value); err != nil {
			return "", envelope.Refuse(http.StatusBadRequest, "the body is not JSON")
		}
		if text, ok = value.(string); !ok || text == "" {
			return "", envelope.Invalid(name, "must be the address of a file")
		}
	}
	if _, err := d.Token(); err != nil {
		return "", envelope.Refuse(http.StatusBadRequest, "the body is not JSON")
	}
	if _, err := d.Token(); err != io.EOF {
		return "", envelope.Refuse(http.StatusBadRequest, "the body is not JSON")
	}
	if !seen {
		return "", envelope.Invalid(name, "is missing: it must be the address of a file")
	}
	return text, nil
}
