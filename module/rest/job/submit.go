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
	// User is whom the client acts for, "" for itself.
	User string
	// Permit is that of the caller's token, nil without one.
	Permit *Permit
	// From is the address of a caller without a token (IPv6: of its /64), and Network its network.
	From, Network string
	Version       string
	Body          []byte
	ContentType   string
	Header        http.Header // tells the upstream who the caller is
	Scopes        []string
}

// MaxBody is the maximum size of a request's body.
const MaxBody = maxBody

// ErrUnknown: the store did not say whether it stored the job.
var ErrUnknown = errors.New("job: it is not known whether the job was stored")

// Submit stores a job. A returned job is durable. An error is a fault of the store; with
// ErrUnknown the job may exist nevertheless.
func (q *Queue) Submit(ctx context.Context, r Request) (*Job, *envelope.Refusal, error) {
	in, refused := q.newInput(ctx, r)
	if refused != nil {
		return nil, refused, nil
	}
	j, refused, err := q.storeJob(ctx, r, in)
	if refused != nil {
		e := EventQueueFull
		if refused.Status == http.StatusTooManyRequests {
			e = EventClientFull
		}
		q.Observer.Job(ctx, e, r.unmade(q))
	}
	return j, refused, err
}

// unmade returns a job that was not made, for the observer.
func (r Request) unmade(q *Queue) *Job {
	return &Job{Queue: q.Name, Version: r.Version, Owner: r.Owner}
}

// storeJob stores a job if there is room for it.
func (q *Queue) storeJob(ctx context.Context, r Request, in *Input) (*Job, *envelope.Refusal, error) {
	waiting, cancel := context.WithTimeout(ctx, admitTime)
	defer cancel()
	select {
	case q.admit <- struct{}{}:
		defer func() { <-q.admit }()
	case <-waiting.Done():
	}
	if err := waiting.Err(); err != nil {
		return nil, nil, err
	}
	// From here on a client that leaves changes nothing: a job that it abandoned while the store
	// wrote it would stay there without a mark, which no limit counts.
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), admitTime)
	defer done()
	now := q.Now()
	j := &Job{
		// IDs are in chronological order, which is that of the index.
		ID:    fmt.Sprintf("%012x", uint64(now.UnixMilli())&(1<<48-1)) + q.NewID(),
		Queue: q.Name, Version: r.Version, Owner: r.Owner, Share: r.User, State: Queued, Input: in, Created: now,
	}
	m := mark{ID: j.ID, Client: r.Owner.Client, User: r.User}
	if m.Client == "" {
		m.From, j.Share = r.From, r.Network
	}
	value, err := encode(j)
	if err != nil {
		return nil, nil, err
	}
	if refused, err := q.checkRoom(ctx, m); refused != nil || err != nil {
		return nil, refused, err
	}
	expires := now.Add(maxAge)
	// The mark is written first: a job without a mark is never found, a mark without a job is
	// removed later.
	if err := q.createMark(ctx, m, expires); err != nil {
		q.removeMark(ctx, j.ID)
		return nil, nil, err
	}
	// Check again, with the own mark: of several nodes that fill the last place at the same time
	// none exceeds the limit, at the price that all of them may be refused.
	refused, err := q.checkRoom(ctx, m)
	if refused == nil && err == nil {
		if _, err = q.Store.Create(ctx, store.Record{Key: jobKey(j.ID), Value: value, Expires: expires}); err != nil {
			err = fmt.Errorf("%w: %w", ErrUnknown, err)
		}
	}
	if refused != nil || err != nil {
		q.removeMark(ctx, j.ID)
		return nil, refused, err
	}
	q.Observer.Job(ctx, EventAccepted, j)
	q.Pool.Wake()
	return j, nil, nil
}

// removeMark removes the mark of a job that is over or was never acknowledged. If that fails,
// the loop does it later.
func (q *Queue) removeMark(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = q.deleteMark(ctx, id)
}

// newInput returns the input of a job.
func (q *Queue) newInput(ctx context.Context, r Request) (*Input, *envelope.Refusal) {
	if len(r.Body) > maxBody {
		return nil, envelope.Refuse(http.StatusRequestEntityTooLarge, "")
	}
	in := &Input{Header: r.Header, Scopes: r.Scopes, Permit: r.Permit}
	if q.Fetch == nil {
		in.Body, in.ContentType = r.Body, r.ContentType
		return in, nil
	}
	address, refused := readMember(r.Body, q.Fetch.Field)
	if refused != nil {
		return nil, refused
	}
	in.URL = address
	forbidden, refused := q.fetcher.checkURL(ctx, address)
	if forbidden {
		q.Observer.File(ctx, FileForbidden, r.unmade(q))
	}
	return in, refused
}

// readMember reads the only member that a body may have.
func readMember(body []byte, name string) (string, *envelope.Refusal) {
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
