package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// schema is the version number in every record. A record with a higher one was written by a
	// newer release and is refused rather than misread.
	schema = 1
	// maxAge is how long a job that nobody runs is kept.
	maxAge = 7 * 24 * time.Hour
	// maxBody bounds a request's body, which is kept in the record until the job is done: a
	// record may have 256 KiB.
	maxBody = 128 << 10
	// maxResult bounds how much of the upstream's answer is kept.
	maxResult = 64 << 10
)

// Owner is who made a job, and the only one who can see it.
type Owner struct {
	Client  string `json:"client,omitempty"`
	Subject string `json:"sub,omitempty"`
}

// Input is what a job needs to run. It is dropped when the job is done.
type Input struct {
	// URL is the file's, "" if the body is the request's.
	URL string `json:"url,omitempty"`
	// Body, ContentType and Query are the request's.
	Body        []byte `json:"body,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	// Header tells the upstream who the caller is, as the guard would have done, and has the job's Idempotency-Key, but not
	// in jobs of earlier releases. It contains no credential.
	Header http.Header `json:"header,omitempty"`
	Scopes []string    `json:"scopes,omitempty"`
	// Permit is nil for a caller without a token, and for jobs of earlier releases.
	Permit *Permit `json:"permit,omitempty"`
}

// Permit is what tells later whether that which the caller's token permitted has ended. It is no credential.
type Permit struct {
	Epochs store.Epochs `json:"epochs,omitzero"`
	KeyID  string       `json:"kid,omitempty"`
}

// Failure is why a job failed.
type Failure struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Field   *string `json:"field"`
}

// Job is a job as it is stored.
type Job struct {
	Schema int `json:"v"`

	ID      string `json:"id"`
	Queue   string `json:"queue"`
	Version string `json:"version,omitempty"` // of the API, "" for none
	Owner   Owner  `json:"owner"`
	// Share is which of its client's callers made the job: a user, or the network of a caller without a token. ""
	// is the client itself.
	Share string `json:"share,omitempty"`
	State State  `json:"state"`
	Input *Input `json:"input,omitempty"`

	// Progress is in percent, nil if it is not known.
	Progress *int      `json:"progress,omitempty"`
	Created  time.Time `json:"created"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`

	Result  json.RawMessage `json:"result,omitempty"`
	Omitted bool            `json:"omitted,omitempty"` // the result was too large to keep, or there was no room for it
	Failure *Failure        `json:"failure,omitempty"`

	// Fence counts how often the job was started. A node with an older one than the stored must
	// not change the job.
	Fence uint64    `json:"fence,omitempty"`
	Node  string    `json:"node,omitempty"` // who runs it
	Until time.Time `json:"until,omitzero"` // how long the lease lasts, by the clock of Node
	// Claimed identifies the node that has claimed a job, and distinguishes configurations
	// within a process.
	Claimed string `json:"claimed,omitempty"`
}

func encode(j *Job) ([]byte, error) {
	j.Schema = schema
	b, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("job: encoding: %w", err)
	}
	return b, nil
}

// errUnreadable is an error of one record, not of the store.
var errUnreadable = errors.New("job: the record cannot be read")

// decode returns errors that match [errUnreadable].
func decode(b []byte) (*Job, error) {
	j := new(Job)
	if err := json.Unmarshal(b, j); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if j.Schema < 1 || j.Schema > schema {
		return nil, fmt.Errorf("%w: it has schema %d, this release reads up to %d: written by a newer gatehouse?", errUnreadable, j.Schema, schema)
	}
	return j, nil
}
