package lazy

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/store"
)

// waiting is a store that does not answer.
type waiting struct{ store.Backend }

func (waiting) Identity() any { return 0 }

func (waiting) Open(context.Context) (store.Backend, error) { return waiting{}, nil }

func (waiting) Get(ctx context.Context, _ store.Key) (store.Record, error) {
	<-ctx.Done()
	return store.Record{}, ctx.Err()
}

// Clients that leave must not look like a store that fails.
func TestOperationsThatWereGivenUpAreNotCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	if err := metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	s := NewStore(waiting{})
	for _, c := range []struct {
		leave func(context.Context) (context.Context, context.CancelFunc)
		more  float64
	}{
		{func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, 1) }, 1},
		{func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, leave := context.WithCancel(ctx)
			leave()
			return ctx, leave
		}, 0},
	} {
		before := countGets(t, registry)
		ctx, leave := c.leave(t.Context())
		_, err := s.Get(ctx, store.Key{})
		leave()
		if got := countGets(t, registry) - before; got != c.more {
			t.Errorf("%v: counted %v times, expected %v", err, got, c.more)
		}
	}
	if s.Suspect() {
		t.Error("the store is suspected")
	}
}

// countGets returns how many reads were counted, whatever became of them.
func countGets(t *testing.T, registry *prometheus.Registry) (n float64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "caddy_gatehouse_store_operations_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetValue() == "get" {
					n += m.GetCounter().GetValue()
				}
			}
		}
	}
	return n
}
