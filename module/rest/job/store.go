package job

import (
	"context"
	"errors"
	"time"
)

// Answers of a [Store] that are no faults.
var (
	ErrNotFound = errors.New("job: not found")
	ErrConflict = errors.New("job: changed meanwhile")
)

// Record is a job as a store sees it.
type Record struct {
	ID      string
	Value   []byte // at most 256 KiB
	Version uint64
	Expires time.Time
}

// Store keeps jobs. A write that returned nil MUST be durable, and one whose error is none
// of ours MAY have taken effect all the same.
type Store interface {
	// Get returns a job or ErrNotFound.
	Get(ctx context.Context, id string) (Record, error)
	// Create stores a job that is not there yet.
	Create(ctx context.Context, r Record) error
	// Swap replaces a job that still has r.Version, else ErrConflict, or ErrNotFound. It
	// returns the new version.
	Swap(ctx context.Context, r Record) (uint64, error)
}

// Mark says that a job is not finished. It is the way to find it: what is true of a job
// stands in its record alone.
type Mark struct {
	ID     string    `json:"-"`
	Client string    `json:"client"`
	From   string    `json:"from,omitempty"` // the address of a caller without a token
	Made   time.Time `json:"made"`
}

// Index finds the jobs of a queue that are not finished.
type Index interface {
	// Enter MUST have taken effect for every List that begins after it returned.
	Enter(ctx context.Context, queue string, m Mark, expires time.Time) error
	// Leave removes a mark; one that is not there is no error.
	Leave(ctx context.Context, id string) error
	// List returns up to limit marks in the order of their IDs.
	List(ctx context.Context, queue string, limit int) ([]Mark, error)
}
