package admin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/userstore"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

type noGuards struct{}

func (noGuards) Revoke(context.Context, store.Revocation) error { return nil }

// Whoever deletes again, because the first time failed, takes 404 for done: it is not said on the word of a store that a
// failover contradicts.
func TestWhatIsGoneIs404OnceAReplicaHasIt(t *testing.T) {
	m := storetest.NewMemory(nil)
	users, err := userstore.New(userstore.Config{Store: m, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	clients, err := clientstore.New(clientstore.Config{Store: m, Revocations: noGuards{}, Now: time.Now, Taken: func(string) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	grants := map[string]store.Grant{
		"revoked": store.Grant{ID: "revoked", Client: "web", Subject: "u1"}.Revoke(time.Now()),
		"ended":   {ID: "ended", Client: "web", Subject: "u1", Epochs: store.Epochs{Subject: 1}},
	}
	for id, g := range grants {
		if _, err := store.Create(t.Context(), m, store.Record{Key: store.Key{Kind: store.KindGrant, ID: id}, Parent: "u1"}, &g); err != nil {
			t.Fatal(err)
		}
	}
	end := store.Ended{Subject: "u1", Epoch: 2, At: time.Now()}
	if _, err := store.Create(t.Context(), m, store.Record{Key: store.EndedKey("u1")}, &end); err != nil {
		t.Fatal(err)
	}
	config := &Config{Store: m, Users: users, Stored: clients}
	for _, path := range [][]string{{"users", "nobody"}, {"clients", "none"}, {"users", "u1", "grants", "none"}, {"users", "u1", "grants", "revoked"}, {"users", "u1", "grants", "ended"}} {
		for want, alone := range map[int]error{http.StatusServiceUnavailable: errors.New("no replica"), http.StatusNotFound: nil} {
			m.LoseReplicas(alone)
			w := httptest.NewRecorder()
			Serve(w, httptest.NewRequest(http.MethodDelete, adminapi.Path(path...), nil), slog.New(slog.DiscardHandler), func() (*Config, func(), error) { return config, func() {}, nil })
			if w.Code != want {
				t.Errorf("%v, %v: %d %s", path, alone, w.Code, w.Body)
			}
		}
	}
}
