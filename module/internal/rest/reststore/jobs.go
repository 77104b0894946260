package reststore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/store"
)

// Jobs keeps jobs and the marks by which queues find them. It implements job.Store and job.Index.
type Jobs struct{ Backend store.Backend }

func jobKey(id string) store.Key  { return store.Key{Kind: store.KindJob, ID: id} }
func markKey(id string) store.Key { return store.Key{Kind: store.KindJobMark, ID: id} }

// Get implements job.Store.
func (s Jobs) Get(ctx context.Context, id string) (job.Record, error) {
	r, err := s.Backend.Get(ctx, jobKey(id))
	return job.Record{ID: r.ID, Value: r.Value, Version: r.Version, Expires: r.Expires}, jobError(err)
}

// Create implements job.Store.
func (s Jobs) Create(ctx context.Context, r job.Record) error {
	_, err := s.Backend.Create(ctx, store.Record{Key: jobKey(r.ID), Value: r.Value, Expires: r.Expires})
	return err // an id that exists is a fault: ids are random
}

// Swap implements job.Store.
func (s Jobs) Swap(ctx context.Context, r job.Record) (uint64, error) {
	stored, err := s.Backend.Swap(ctx, store.Record{Key: jobKey(r.ID), Value: r.Value, Version: r.Version, Expires: r.Expires})
	return stored.Version, jobError(err)
}

// Enter implements job.Index.
func (s Jobs) Enter(ctx context.Context, queue string, m job.Mark, expires time.Time) error {
	value, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = s.Backend.Create(ctx, store.Record{Key: markKey(m.ID), Parent: queue, Value: value, Expires: expires})
	return err
}

// Leave implements job.Index.
func (s Jobs) Leave(ctx context.Context, id string) error {
	return s.Backend.Delete(ctx, markKey(id))
}

// List implements job.Index.
func (s Jobs) List(ctx context.Context, queue string, limit int) ([]job.Mark, error) {
	records, err := s.Backend.List(ctx, store.KindJobMark, queue, "", limit)
	if err != nil {
		return nil, err
	}
	marks := make([]job.Mark, 0, len(records))
	for _, r := range records {
		m := job.Mark{ID: r.ID}
		if err := json.Unmarshal(r.Value, &m); err != nil {
			return nil, fmt.Errorf("reading the mark of a job: %w", err)
		}
		marks = append(marks, m)
	}
	return marks, nil
}

// jobError turns the store's errors into those of package job.
func jobError(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return job.ErrNotFound
	case errors.Is(err, store.ErrConflict):
		return job.ErrConflict
	}
	return err
}
