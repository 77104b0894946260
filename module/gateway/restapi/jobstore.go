package restapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/store"
)

// jobStore keeps jobs and their marks in the gateway's store.
type jobStore struct{ backend store.Backend }

func jobKey(id string) store.Key  { return store.Key{Kind: store.KindJob, ID: id} }
func markKey(id string) store.Key { return store.Key{Kind: store.KindJobMark, ID: id} }

// Get implements job.Store.
func (s jobStore) Get(ctx context.Context, id string) (job.Record, error) {
	r, err := s.backend.Get(ctx, jobKey(id))
	return job.Record{ID: r.ID, Value: r.Value, Version: r.Version, Expires: r.Expires}, jobError(err)
}

// Create implements job.Store.
func (s jobStore) Create(ctx context.Context, r job.Record) error {
	_, err := s.backend.Create(ctx, store.Record{Key: jobKey(r.ID), Value: r.Value, Expires: r.Expires})
	return err // an id that exists is a fault: nobody makes one twice
}

// Swap implements job.Store.
func (s jobStore) Swap(ctx context.Context, r job.Record) (uint64, error) {
	stored, err := s.backend.Swap(ctx, store.Record{Key: jobKey(r.ID), Value: r.Value, Version: r.Version, Expires: r.Expires})
	return stored.Version, jobError(err)
}

// Enter implements job.Index.
func (s jobStore) Enter(ctx context.Context, queue string, m job.Mark, expires time.Time) error {
	value, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = s.backend.Create(ctx, store.Record{Key: markKey(m.ID), Parent: queue, Value: value, Expires: expires})
	return err
}

// Leave implements job.Index.
func (s jobStore) Leave(ctx context.Context, id string) error {
	return s.backend.Delete(ctx, markKey(id))
}

// List implements job.Index.
func (s jobStore) List(ctx context.Context, queue string, limit int) ([]job.Mark, error) {
	records, err := s.backend.List(ctx, store.KindJobMark, queue, "", limit)
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

// jobError converts errors of the store to those of package job.
func jobError(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return job.ErrNotFound
	case errors.Is(err, store.ErrConflict):
		return job.ErrConflict
	}
	return err
}
