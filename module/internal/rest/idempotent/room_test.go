package idempotent_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
)

// Otherwise one client could fill the store with answers, and nobody could sign in any more.
func TestAnswersOfAClientTakeABoundedRoom(t *testing.T) {
	at := newClock()
	l := newLedger(at.now)
	one, other := keeper(t, l), keeper(t, l)
	used := 0
	// post carries out a request, and returns what a repetition at another node gets.
	post := func(k idempotent.Key, kib int) string {
		t.Helper()
		used++
		k.Resource, k.Text = "/articles", fmt.Sprint(used)
		a, got := ask(one, k, "body")
		if got != "begin" {
			t.Fatal(got)
		}
		if err := a.Keep(t.Context(), idempotent.Answer{Status: 201, Body: bytes.Repeat([]byte("x"), kib<<10)}); err != nil {
			t.Fatal(err)
		}
		if _, got = ask(other, k, "body"); strings.HasPrefix(got, "replay 201") {
			return "kept"
		}
		return got
	}
	client := idempotent.Key{Client: "reader", User: "client:reader"}
	user := func(id string) idempotent.Key { return idempotent.Key{Client: "writer", User: id, Share: id} }
	stranger := func(network string) idempotent.Key { return idempotent.Key{Share: network} }
	const most, kept, not = 10_000 * 4, "kept", "idempotency_answer_not_kept"
	fill := func(k idempotent.Key, units int) {
		t.Helper()
		for ; units > 0; units -= 50 {
			if got := post(k, 50); got != kept {
				t.Fatalf("%d KiB are left: %s", units, got)
			}
		}
	}
	fill(client, most)
	for name, c := range map[string]struct {
		key  idempotent.Key
		kib  int
		want string
	}{
		"beyond it":           {client, 50, not},
		"beyond it by little": {client, 2, not},
		"a small answer":      {client, 1, kept},
		"of another client":   {user("u-0"), 2, kept},
	} {
		if got := post(c.key, c.kib); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	fill(user("u-1"), most/10)
	fill(stranger("192.0.2.0/24"), most/10)
	if a, b := post(user("u-1"), 50), post(user("u-2"), 50); a != not || b != kept {
		t.Errorf("a user who has a tenth of the room: %s, another one: %s", a, b)
	}
	if a, b := post(stranger("192.0.2.0/24"), 50), post(stranger("198.51.100.0/24"), 50); a != not || b != kept {
		t.Errorf("a network that has a tenth of the room: %s, another one: %s", a, b)
	}
	at.pass(25 * time.Hour)
	if got := post(client, 50); got != kept {
		t.Errorf("a day later: %s", got)
	}
}
