package job

import (
	"context"
	"testing"

	"github.com/gatehouse/gatehouse/module/store"
)

// leaver is a store whose caller goes away while it stores a job, which takes effect all the same.
type leaver struct {
	*shelf
	leave func()
}

func (l *leaver) Create(ctx context.Context, r store.Record) (store.Record, error) {
	stored, err := l.shelf.Create(ctx, r)
	if r.Kind == store.KindJob {
		l.leave()
	}
	if ctx.Err() != nil {
		return store.Record{}, ctx.Err()
	}
	return stored, err
}

// N17: a client that leaves in the right moment keeps no job in the store that its places do not count.
func TestJobOfADepartedClientIsCounted(t *testing.T) {
	s := newShelf()
	ctx, leave := context.WithCancel(t.Context())
	q := node(t, s, newWork(nil), "a", func(c *QueueConfig) { c.Store = &leaver{s, leave} })
	j, refused, err := q.Submit(ctx, Request{Owner: owner, Body: []byte("x")})
	if j == nil || refused != nil || err != nil {
		t.Errorf("N17 %+v, %+v, %v", j, refused, err)
	}
	if len(s.jobs) != s.unfinished() {
		t.Errorf("N17 %d jobs are stored, %d are counted", len(s.jobs), s.unfinished())
	}
}
