package redis

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

func TestStoreIsEmptyUntilItHasARecord(t *testing.T) {
	for name, url := range map[string]func() string{
		"one server": func() string { return redistest.Start(t).URL() },
		"a cluster":  func() string { return redistest.SharedCluster(t).URL() },
	} {
		t.Run(name, func(t *testing.T) {
			address := url()
			connect := func(prefix string) *Backend {
				settings, err := redisconn.Parse(address)
				if err != nil {
					t.Fatal(err)
				}
				settings.Prefix = prefix
				b, err := Open(Options{Settings: settings})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = b.Close() })
				return b
			}
			// A pattern of Redis would take this prefix for many.
			b, beside := connect("empty?*[a]:"), connect("emptyXYa:")
			empty := func(want bool) {
				t.Helper()
				if got, err := b.Empty(t.Context()); err != nil || got != want {
					t.Errorf("empty: %v, %v, want %v", got, err, want)
				}
			}
			if _, err := beside.Create(t.Context(), store.Record{Key: store.Key{Kind: "k", ID: "a"}}); err != nil {
				t.Fatal(err)
			}
			empty(true)
			if err := b.client.Set(t.Context(), b.prefix+"probe", "1", time.Minute).Err(); err != nil {
				t.Fatal(err)
			}
			empty(true)
			for _, r := range []store.Record{{Key: store.Key{Kind: "k", ID: "a"}}, {Key: store.Key{Kind: store.KindRevocation, ID: "a"}, Parent: "all"}} {
				if _, err := b.Create(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				empty(false)
				if err := b.Delete(t.Context(), r.Key); err != nil {
					t.Fatal(err)
				}
				if r.Kind == "k" {
					empty(true)
				}
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Empty(t.Context()); err == nil {
				t.Error("a closed store is empty")
			}
		})
	}
}
