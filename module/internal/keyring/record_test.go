package keyring

import (
	"slices"
	"testing"
	"time"
)

func TestSignerIsTheNewestActiveKey(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	key := func(kid string, created, from, retires time.Duration) *Key {
		k := &Key{storedKey: storedKey{Kid: kid, Alg: "ES256", Created: now.Add(created)}}
		if from != 0 {
			k.SignsFrom = now.Add(from)
		}
		if retires != 0 {
			k.Retires = now.Add(retires)
		}
		return k
	}
	rsa := key("rsa", -time.Minute, 0, 0)
	rsa.Alg = "RS256"
	cases := []struct {
		name string
		keys []*Key
		want string
	}{
		{"none", nil, ""},
		{"only another algorithm", []*Key{rsa}, ""},
		{"the first at once", []*Key{key("a", -time.Hour, 0, 0), rsa}, "a"},
		{"the next is published only", []*Key{key("a", -time.Hour, 0, 0), key("b", 0, time.Minute, 0)}, "a"},
		{"the next has begun", []*Key{key("b", -time.Hour, -time.Minute, 0), key("a", -2*time.Hour, 0, time.Hour)}, "b"},
		{"the old one retired", []*Key{key("a", -time.Hour, 0, -time.Second), key("b", 0, time.Minute, 0)}, "b"},
		{"all retired", []*Key{key("a", -time.Hour, 0, -time.Second)}, ""},
		{"retires now", []*Key{{storedKey: storedKey{Kid: "a", Alg: "ES256", Retires: now}}}, ""},
		{"two future ones", []*Key{key("b", 0, time.Hour, 0), key("a", 0, time.Minute, 0)}, "a"},
		{"a tie goes to the newer", []*Key{key("b", -time.Minute, 0, 0), key("a", -time.Hour, 0, 0)}, "b"},
	}
	for _, c := range cases {
		slices.SortFunc(c.keys, compareAge) // as they are when the ring is read
		got := ""
		if k := (&snapshot{keys: c.keys}).signer("ES256", now); k != nil {
			got = k.Kid
		}
		if got != c.want {
			t.Errorf("%s: %q signs, want %q", c.name, got, c.want)
		}
	}
}

func TestFullKeyRingTakesNoMoreKeys(t *testing.T) {
	r, m := newRing(t)
	full := make([]storedKey, maxKeys)
	if _, err := r.writeRecord(t.Context(), 0, append(full, storedKey{})); err == nil || m.Len() != 0 {
		t.Errorf("one key more than the limit was taken: %v", err)
	}
	s := &snapshot{keys: []*Key{{}, {storedKey: storedKey{Retires: time.Now()}}}}
	if n := len(slices.Collect(s.published(time.Now()))); n != 1 {
		t.Errorf("a retired key must make room: %d", n)
	}
}
