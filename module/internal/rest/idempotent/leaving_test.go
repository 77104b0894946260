package idempotent_test

import (
	"context"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
	"github.com/gatehouse/gatehouse/module/store"
)

// leaver is a store whose caller goes away while it writes a key, which takes effect all the same.
type leaver struct {
	*ledger
	leave func()
}

func (l *leaver) Get(ctx context.Context, k store.Key) (store.Record, error) {
	if err := ctx.Err(); err != nil {
		return store.Record{}, err
	}
	return l.ledger.Get(ctx, k)
}

func (l *leaver) Create(ctx context.Context, r store.Record) (store.Record, error) {
	stored, err := l.ledger.Create(ctx, r)
	if r.Kind == store.KindIdempotency {
		l.leave()
	}
	if ctx.Err() != nil {
		return store.Record{}, ctx.Err()
	}
	return stored, err
}

// N17: otherwise the key would be taken, and its request neither carried out nor known to be undone.
func TestRequestOfADepartedClientIsCarriedOut(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	l := &leaver{newLedger(time.Now), leave}
	k, err := idempotent.New(idempotent.Config{Store: l, Attempt: func() string { return "one" }, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	key := idempotent.Key{Client: "writer", Resource: "/orders", Text: "k"}
	attempt, answer, refused, err := k.Begin(ctx, key, "digest")
	if attempt == nil || answer != nil || refused != nil || err != nil {
		t.Fatalf("N17 %v, %v, %v, %v", attempt, answer, refused, err)
	}
	if _, _, _, err := k.Begin(ctx, idempotent.Key{Client: "writer", Resource: "/orders", Text: "another"}, "digest"); err == nil {
		t.Error("N17 the request of a client that has left already is begun")
	}
}
