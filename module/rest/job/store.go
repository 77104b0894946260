package job

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/workers"
	"github.com/gatehouse/gatehouse/module/store"
)

// mark leads a queue to one of its unfinished jobs.
type mark = workers.Mark

func jobKey(id string) store.Key  { return store.Key{Kind: store.KindJob, ID: id} }
func markKey(id string) store.Key { return store.Key{Kind: store.KindJobMark, ID: id} }

func (q *Queue) createMark(ctx context.Context, m mark, expires time.Time) error {
	value, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = q.Store.Create(ctx, store.Record{Key: markKey(m.ID), Parent: q.Name, Value: value, Expires: expires})
	return err
}

func (q *Queue) deleteMark(ctx context.Context, id string) error {
	return q.Store.Delete(ctx, markKey(id))
}

// listMarks returns up to limit marks in the order of their IDs.
func (q *Queue) listMarks(ctx context.Context, limit int) ([]mark, error) {
	records, err := q.Store.List(ctx, store.KindJobMark, q.Name, "", limit)
	if err != nil {
		return nil, err
	}
	marks := make([]mark, len(records))
	for i, r := range records {
		if err := json.Unmarshal(r.Value, &marks[i]); err != nil {
			return nil, fmt.Errorf("reading the mark of a job: %w", err)
		}
		marks[i].ID = r.ID
	}
	return marks, nil
}

// loadJob reads a job.
func (q *Queue) loadJob(ctx context.Context, id string) (*Job, store.Record, error) {
	r, err := q.Store.Get(ctx, jobKey(id))
	if err != nil {
		return nil, r, err
	}
	j, err := decode(r.Value)
	if err == nil && (j.ID != id || j.Queue != q.Name) {
		return nil, r, store.ErrNotFound
	}
	return j, r, err
}

// saveJob writes a job that was read as r.
func (q *Queue) saveJob(ctx context.Context, j *Job, r store.Record) (store.Record, error) {
	value, err := encode(j)
	if err != nil {
		return r, err
	}
	r.Value, r.Expires = value, q.Now().Add(maxAge)
	if j.State.Final() {
		r.Expires = j.Finished.Add(q.Keep)
		if !q.Room(ctx, j, len(value)) {
			return q.saveBriefly(ctx, j, r)
		}
	}
	return q.Store.Swap(ctx, r)
}

// briefly is how long a finished job can be read for which there is no room.
const briefly = 10 * time.Minute

// saveBriefly writes a finished job without its result. Otherwise a single client could fill the store with jobs, and
// nobody could sign in any more.
func (q *Queue) saveBriefly(ctx context.Context, j *Job, r store.Record) (store.Record, error) {
	if j.Result != nil {
		j.Result, j.Omitted = nil, true
	}
	value, err := encode(j)
	if err != nil {
		return r, err
	}
	r.Value, r.Expires = value, j.Finished.Add(min(q.Keep, briefly))
	return q.Store.Swap(ctx, r)
}
