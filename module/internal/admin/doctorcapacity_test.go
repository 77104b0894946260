package admin

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestCapacityIsWarnedOfAboveEightyPercent(t *testing.T) {
	for _, c := range []struct {
		used, most int64
		grade      string
	}{{0, 10, adminapi.GradeOK}, {7, 10, adminapi.GradeOK}, {79, 100, adminapi.GradeOK}, {8, 10, adminapi.GradeWarn}, {30, 10, adminapi.GradeWarn}} {
		var out adminapi.Findings
		addCapacity(&out, "keys", c.used, c.most, "raise it")
		if f := out[0]; f.Grade != c.grade || (f.Remedy == "") != (c.grade == adminapi.GradeOK) {
			t.Errorf("%d of %d: %+v", c.used, c.most, f)
		}
	}
}

// filled is a directory with a file of some bytes.
type filled struct {
	directory.Directory
	used int64
}

func (f *filled) Size(context.Context) (used, most int64, ok bool) { return f.used, 100, f.used > 0 }

func TestNodeCapacityIsReported(t *testing.T) {
	memory := storetest.NewMemory(nil)
	revoked, err := revocationlist.New(revocationlist.Config{
		Store: memory, MaxTokenLife: func() time.Duration { return time.Hour }, Limit: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	limits, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := clientstore.New(clientstore.Config{Store: memory, Revocations: noRevoker{}})
	if err != nil {
		t.Fatal(err)
	}
	cache, users := token.CacheStats{Bytes: 10, Size: 100, Misses: 10}, new(filled)
	g := &Config{
		Revocations: revoked, LimiterMemory: func() (ratelimit.Stats, bool) { return limits.Stats(), true },
		TokenCache: func() token.CacheStats { return cache }, Stored: stored, Registrations: 5, Users: users,
	}
	want := func(want ...string) {
		t.Helper()
		var out adminapi.Findings
		g.checkCapacity(t.Context(), &out)
		var got []string
		for _, f := range out {
			got = append(got, f.Grade+" "+f.Message)
		}
		if len(out) != len(want) {
			t.Errorf("%q, want %d", got, len(want))
			return
		}
		for i := range want {
			if out[i].Check != "capacity" || !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s: %q, want %q", out[i].Check, got[i], want[i])
			}
		}
	}
	want("ok 0 revocations", "ok ", "ok 10 bytes of memory for 0 verified tokens", "ok 0 clients that registered", "ok 0 clients in the store")
	for i := range 8 {
		if err := revoked.Revoke(t.Context(), store.Revocation{Of: store.RevokeSubject, Value: fmt.Sprint("u-", i), At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		c := &oauth.Client{RedirectURIs: []string{"https://app.example/cb"}, Public: true, Grants: []oauth.GrantType{oauth.AuthorizationCode}, Scopes: []string{"read"}}
		if _, _, err := stored.Register(t.Context(), c, "digest", 5); err != nil {
			t.Fatal(err)
		}
	}
	cache, users.used, g.LimiterMemory = token.CacheStats{Bytes: 80, Size: 100, Hits: 70, Misses: 30}, 80, func() (ratelimit.Stats, bool) { return ratelimit.Stats{}, false }
	want("warn 8 revocations", "warn 80 bytes of memory", "warn 4 clients that registered", "ok 4 clients in the store", "warn 80 bytes in the file")
	cache, users.used, g.Registrations = token.CacheStats{Bytes: 100, Size: 100, Hits: 90, Misses: 10}, 79, 0
	want("warn 8 revocations", "ok 100 bytes of memory", "ok 4 clients in the store", "ok 79 bytes in the file")
}
