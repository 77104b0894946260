package redis

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
)

func BenchmarkStore(b *testing.B) {
	server := redistest.Start(b)
	s := open(b, options(b, server.URL()))
	made, err := s.Create(b.Context(), record("a"))
	if err != nil {
		b.Fatal(err)
	}
	var n atomic.Int64
	fresh := func(parent string) store.Record {
		r := record(fmt.Sprintf("%032x", n.Add(1)))
		r.Parent, r.Value, r.Expires = parent, make([]byte, 300), time.Now().Add(time.Hour)
		return r
	}
	for name, call := range map[string]func() error{
		"Get":                   func() error { _, err := s.Get(b.Context(), made.Key); return err },
		"Create":                func() error { _, err := s.Create(b.Context(), fresh("")); return err },
		"Create under a parent": func() error { _, err := s.Create(b.Context(), fresh(strconv.FormatInt(n.Load()/10, 10))); return err },
		"Create and Swap": func() error {
			r, err := s.Create(b.Context(), fresh(""))
			if err == nil {
				_, err = s.Swap(b.Context(), r)
			}
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := call(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// A record of 300 bytes under a parent with ten: what Redis needs for it.
func TestRecordMemoryOverheadIsSmall(t *testing.T) {
	server := redistest.Shared(t)
	b := open(t, options(t, server.URL()))
	for i := range 10 {
		r := lasting(fmt.Sprintf("%032x", i), time.Hour)
		r.Value = make([]byte, 300)
		must2(b.Create(t.Context(), r))(t)
	}
	usage := func(key string) int {
		n, err := strconv.Atoi(server.CLI("memory", "usage", key))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	own, shared := usage(b.recordKey(store.Key{Kind: "k", ID: fmt.Sprintf("%032x", 1)})), usage(b.indexKeys("k", "p")[0])
	t.Logf("%d bytes for a record of 300, %d more for its place under its parent", own, shared/10)
	if own > 600 || shared/10 > 80 {
		t.Error("that is more than it should be")
	}
}
