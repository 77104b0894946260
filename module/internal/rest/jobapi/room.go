package jobapi

import (
	"context"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/quota"
	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/store"
)

// NewRoom returns the Room of a queue. Each client has one of its own.
func NewRoom(c job.Config, s store.Backend, now func() time.Time) func(context.Context, *job.Job, int) bool {
	c = c.Defaulted()
	room := quota.NewRoom("jobs of "+c.Name, quota.Config{Store: s, Now: now, Keep: c.Keep})
	return func(ctx context.Context, j *job.Job, size int) bool {
		return room.Take(ctx, j.Owner.Client, j.Share, size)
	}
}
