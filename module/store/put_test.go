package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestPutReportsAConcurrentWrite(t *testing.T) {
	ctx, b := t.Context(), storetest.NewMemory(nil)
	key := store.Key{Kind: store.KindClient, ID: "a"}
	put := func(version uint64, want bool) {
		t.Helper()
		if got, err := store.Put(ctx, b, store.Record{Key: key, Value: []byte("x"), Version: version}); got != want || err != nil {
			t.Errorf("Put with version %d = %t, %v, want %t", version, got, err, want)
		}
	}
	put(7, false) // there is none
	put(0, true)
	put(0, false) // there is one
	r, err := b.Get(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	put(r.Version, true)
	put(r.Version, false) // it is another
	away := errors.New("away")
	b.Fail(away)
	if got, err := store.Put(ctx, b, store.Record{Key: key}); got || !errors.Is(err, away) {
		t.Errorf("a fault: %t, %v", got, err)
	}
}

func TestChangeFromRereadsOnlyAfterALostRace(t *testing.T) {
	ctx, b := t.Context(), storetest.NewMemory(nil)
	key := store.VanishedKey("a")
	write := func(client string) {
		t.Helper()
		var v store.Vanished
		if _, err := store.Change(ctx, b, store.Record{Key: key}, &v, func(*store.Record) (bool, error) { v.Client = client; return true, nil }); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	var v store.Vanished
	read, err := store.Read(ctx, b, key, &v)
	if err != nil {
		t.Fatal(err)
	}
	write("b") // somebody else
	var seen []string
	_, err = store.ChangeFrom(ctx, b, read, &v, func(*store.Record) (bool, error) {
		seen = append(seen, v.Client)
		v.Client += "+"
		return true, nil
	})
	if err != nil || !slices.Equal(seen, []string{"a", "b"}) || v.Client != "b+" {
		t.Errorf("%v saw %q, wrote %q, want a and b, and b+", err, seen, v.Client)
	}
}

func TestChangeWritesWhatItsCallbackEncoded(t *testing.T) {
	ctx, b := t.Context(), storetest.NewMemory(nil)
	key := store.VanishedKey("a")
	var v store.Vanished
	_, err := store.Change(ctx, b, store.Record{Key: key}, &v, func(r *store.Record) (_ bool, err error) {
		v.Client = "encoded"
		r.Value, err = store.Encode(&v)
		v.Client = "changed afterwards"
		return true, err
	})
	if err != nil {
		t.Fatal(err)
	}
	read, err := store.Change(ctx, b, store.Record{Key: key}, &v, func(*store.Record) (bool, error) { return false, nil })
	if err != nil || v.Client != "encoded" || store.Decode(read.Value, &v) != nil {
		t.Errorf("wrote %q, returned %q, %v", v.Client, read.Value, err)
	}
}

func TestUpdateLosingEveryRaceGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, b := t.Context(), storetest.NewMemory(nil)
		r := store.Record{Key: store.VanishedKey("a")}
		var v, other store.Vanished
		tries, begun := 0, time.Now()
		_, err := store.Change(ctx, b, r, &v, func(*store.Record) (bool, error) {
			tries++
			_, err := store.Change(ctx, b, r, &other, func(*store.Record) (bool, error) { other.At = time.Unix(int64(tries), 0); return true, nil })
			return true, err
		})
		if took := time.Since(begun); err == nil || tries != 64 || took == 0 || took > 3*time.Second {
			t.Errorf("%v after %d tries and %v, want an error after 64 with pauses below 3s", err, tries, took)
		}
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := store.Change(ctx, b, r, &v, func(*store.Record) (bool, error) {
			_, err := store.Change(t.Context(), b, r, &other, func(*store.Record) (bool, error) { other.At = other.At.Add(time.Second); return true, nil })
			return true, err
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("of a request that has gone: %v, want context canceled", err)
		}
	})
}
