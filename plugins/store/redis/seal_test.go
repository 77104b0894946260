package redis

import (
	"errors"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

// In Valkey WAIT speaks of the writes of its own connection, which is why an answer that
// comes without a write brings one along: it may rest on what no replica has.
func TestWriteConcernMakesEveryAnswerIncludeAWrite(t *testing.T) {
	server := redistest.Start(t)
	for _, replicas := range []int{0, 1} {
		o := options(t, server.URL())
		made := must2(open(t, o).Create(t.Context(), lasting("a", time.Hour)))(t)
		o.Replicas = replicas // of which there is none
		b := open(t, o)
		stale, none := made, record("none")
		stale.Version++
		none.Version = 1
		for what, call := range map[string]func() error{
			"Create of what is there":     func() error { _, err := b.Create(t.Context(), made); return err },
			"Swap of another version":     func() error { _, err := b.Swap(t.Context(), stale); return err },
			"Swap of what is not there":   func() error { _, err := b.Swap(t.Context(), none); return err },
			"Delete of what is not there": func() error { return b.Delete(t.Context(), none.Key) },
			"Get of what may be gone": func() error {
				if replicas > 0 {
					b.unconfirmed.addKey(b.recordKey(none.Key))
				}
				_, err := b.Get(t.Context(), none.Key)
				return err
			},
		} {
			changes := func() string {
				return redisconn.Field(server.CLI("info", "persistence"), "rdb_changes_since_last_save")
			}
			b.condition.recordSuccess(true, 0) // no probe is at work, and none begins
			b.condition.probing = true
			before := changes()
			if err := call(); errors.Is(err, redisconn.ErrReplicas) != (replicas > 0) {
				t.Errorf("%s with %d replicas: %v", what, replicas, err)
			}
			if wrote := changes() != before; wrote != (replicas > 0) {
				t.Errorf("%s with %d replicas wrote: %v", what, replicas, wrote)
			}
		}
		plain := open(t, Options{Settings: o.Settings})
		if got := must2(plain.Get(t.Context(), made.Key))(t); string(got.Value) != string(made.Value) || !got.Expires.Equal(made.Expires) {
			t.Errorf("what was found is another one: %+v", got)
		}
		if _, err := plain.Get(t.Context(), none.Key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("what was not there is: %v", err)
		}
	}
}
