package idempotent_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
	"github.com/gatehouse/gatehouse/module/store"
)

var made = idempotent.Answer{Status: 201, Header: http.Header{"Location": {"/articles/7"}}, Body: []byte(`{"id":7}`)}

func TestIdempotentRetryGetsTheStoredState(t *testing.T) {
	const replay = `replay 201 {"id":7}`
	for name, c := range map[string]struct {
		end   func(context.Context, *idempotent.Attempt) error
		later time.Duration
		want  string
	}{
		"kept":                   {func(ctx context.Context, a *idempotent.Attempt) error { return a.Keep(ctx, made) }, 0, replay},
		"kept for a day":         {func(ctx context.Context, a *idempotent.Attempt) error { return a.Keep(ctx, made) }, 24*time.Hour - 1, replay},
		"forgotten after it":     {func(ctx context.Context, a *idempotent.Attempt) error { return a.Keep(ctx, made) }, 24 * time.Hour, "begin"},
		"in progress":            {nil, 2*time.Minute - 1, "idempotency_in_progress"},
		"broken off":             {nil, 2 * time.Minute, "idempotency_outcome_unknown"},
		"lost":                   {func(ctx context.Context, a *idempotent.Attempt) error { return a.Lose(ctx) }, 0, "idempotency_outcome_unknown"},
		"too large, and said so": {func(ctx context.Context, a *idempotent.Attempt) error { return a.Know(ctx, 201) }, 0, "idempotency_answer_not_kept"},
		"too large a body": {func(ctx context.Context, a *idempotent.Attempt) error {
			return a.Keep(ctx, idempotent.Answer{Status: 200, Body: make([]byte, idempotent.MaxAnswer+1)})
		}, 0, "idempotency_answer_not_kept"},
		"too large a header": {func(ctx context.Context, a *idempotent.Attempt) error {
			return a.Keep(ctx, idempotent.Answer{Status: 200, Header: http.Header{"X": {strings.Repeat("x", idempotent.MaxAnswer)}}})
		}, 0, "idempotency_answer_not_kept"},
		"just not too large": {func(ctx context.Context, a *idempotent.Attempt) error {
			return a.Keep(ctx, idempotent.Answer{Status: 200, Body: bytes.Repeat([]byte("x"), idempotent.MaxAnswer)})
		}, 0, "replay 200 " + strings.Repeat("x", idempotent.MaxAnswer)},
		"nothing was done":        {func(ctx context.Context, a *idempotent.Attempt) error { return a.Undo(ctx) }, 0, "begin"},
		"it took longer, and was": {func(ctx context.Context, a *idempotent.Attempt) error { return a.Keep(ctx, made) }, 0, replay},
	} {
		at := newClock()
		l := newLedger(at.now)
		k := keeper(t, l)
		a, got := ask(k, aKey, "body")
		if got != "begin" {
			t.Fatalf("%s: the first: %s", name, got)
		}
		if c.end != nil {
			if strings.HasPrefix(name, "it took longer") {
				at.pass(time.Hour)
			}
			if err := c.end(t.Context(), a); err != nil {
				t.Fatal(name, err)
			}
		}
		at.pass(c.later)
		// Another node, with nothing in memory, says the same; and another body is another
		// request in every state.
		if _, got := ask(keeper(t, l), aKey, "body"); got != c.want {
			t.Errorf("%s: %.80s, want %.80s", name, got, c.want)
		}
		if c.want != "begin" {
			if _, got := ask(k, aKey, "another body"); got != "idempotency_key_reused" {
				t.Errorf("%s: another body: %s", name, got)
			}
		}
	}
}

func TestIdempotencyKeyIsPerCallerAndResource(t *testing.T) {
	k := keeper(t, newLedger(newClock().now))
	for _, key := range []idempotent.Key{
		aKey, {Client: "other", User: "u-1", Resource: "/articles", Text: "3f6f"}, {Client: "reader", User: "u-2", Resource: "/articles", Text: "3f6f"},
		{Client: "reader", User: "u-1", Resource: "/students", Text: "3f6f"}, {Client: "reader", User: "u-1", Resource: "/articles", Text: "3f6"},
		{Client: "readeru", User: "-1", Resource: "/articles", Text: "3f6f"},
	} {
		if _, got := ask(k, key, "body"); got != "begin" {
			t.Errorf("%+v: %s", key, got)
		}
	}
}

func TestParallelRequestsWithOneKeyBeginOnce(t *testing.T) {
	l := newLedger(newClock().now)
	nodes := []*idempotent.Keeper{keeper(t, l), keeper(t, l)}
	var mu sync.Mutex
	count := make(map[string]int)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			_, got := ask(nodes[i%2], aKey, "body")
			mu.Lock()
			defer mu.Unlock()
			count[got]++
		})
	}
	all.Wait()
	if count["begin"] != 1 || count["idempotency_in_progress"] != 63 {
		t.Error(count)
	}
}

// A fault at any operation, before or after it took effect: never two that begin, and
// never an answer that was not the first's.
func TestFaultNeverExecutesARequestTwice(t *testing.T) {
	for failAt := 1; failAt <= 8; failAt++ {
		for _, after := range []bool{false, true} {
			at := newClock()
			l := newLedger(at.now)
			l.failAt, l.after = failAt, after
			begun := 0
			var told []string
			for range 4 {
				a, got := ask(keeper(t, l), aKey, "body")
				told = append(told, got)
				if a == nil {
					continue
				}
				begun++
				_ = a.Keep(t.Context(), idempotent.Answer{Status: 201, Body: fmt.Append(nil, begun)})
			}
			at.pass(time.Hour)
			_, got := ask(keeper(t, l), aKey, "body")
			told = append(told, got)
			if begun != 1 {
				t.Errorf("fault at %d, after %v: begun %d times: %q", failAt, after, begun, told)
			}
			if last := told[len(told)-1]; last != "replay 201 1" && last != "idempotency_outcome_unknown" {
				t.Errorf("fault at %d, after %v: %q", failAt, after, told)
			}
			if slices.Index(told, "begin") < 0 || failAt == 1 && told[0] != "fault" {
				t.Errorf("fault at %d, after %v: %q", failAt, after, told)
			}
		}
	}
}

// What is to be noted is tried twice: one lost write does not make an outcome unknown.
func TestLostIdempotencyWriteIsRetried(t *testing.T) {
	for _, after := range []bool{false, true} {
		for name, c := range map[string]struct {
			end  func(context.Context, *idempotent.Attempt) error
			want string
		}{
			"keep": {func(ctx context.Context, a *idempotent.Attempt) error { return a.Keep(ctx, made) }, `replay 201 {"id":7}`},
			"undo": {func(ctx context.Context, a *idempotent.Attempt) error { return a.Undo(ctx) }, "begin"},
			"lose": {func(ctx context.Context, a *idempotent.Attempt) error { return a.Lose(ctx) }, "idempotency_outcome_unknown"},
		} {
			l := newLedger(newClock().now)
			k := keeper(t, l)
			a, _ := ask(k, aKey, "body")
			l.failAt, l.after = l.ops+1, after
			if err := c.end(t.Context(), a); err != nil {
				t.Error(name, err)
			}
			if _, got := ask(k, aKey, "body"); got != c.want {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

// The key is free again although the store said otherwise, and another request takes it
// before the first has tried again. Its record stays: without it, it could be carried out twice.
func TestUndoKeepsRecordsOfOthers(t *testing.T) {
	at := newClock()
	l := newLedger(at.now)
	first, _ := ask(keeper(t, l), aKey, "body")
	var second *idempotent.Attempt
	l.failAt, l.after = l.ops+1, true
	l.faulty = func() {
		var got string
		if second, got = ask(keeper(t, l), aKey, "body"); second == nil {
			t.Fatal(got)
		}
	}
	if err := first.Undo(t.Context()); err != nil {
		t.Error(err)
	}
	if _, got := ask(keeper(t, l), aKey, "body"); got != "idempotency_in_progress" {
		t.Errorf("while the second is on its way: %s", got)
	}
	if err := second.Keep(t.Context(), made); err != nil {
		t.Error(err)
	}
	if _, got := ask(keeper(t, l), aKey, "body"); got != `replay 201 {"id":7}` {
		t.Errorf("when it is over: %s", got)
	}
}

func TestStoredIdempotencyRecordsAreEncrypted(t *testing.T) {
	l := newLedger(newClock().now)
	a, _ := ask(keeper(t, l), aKey, "body")
	if err := a.Keep(t.Context(), idempotent.Answer{Status: 201, Header: http.Header{"X-Secret": {"a secret header"}}, Body: []byte("a secret body")}); err != nil {
		t.Fatal(err)
	}
	var all []byte
	for k, r := range l.rows {
		all = append(append(append(all, r.Value...), r.Parent...), k.ID...)
		if k.Kind != store.KindIdempotency {
			continue
		}
		var v store.Idempotency
		if err := store.Decode(r.Value, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v.Answer...)
		// A record under another key, or of another attempt, opens for nobody.
		v.Attempt = "another"
		var err error
		if r.Value, err = store.Encode(&v); err != nil {
			t.Fatal(err)
		}
		l.rows[k] = r
	}
	for _, secret := range []string{"secret", "3f6f", "u-1", "reader"} {
		if bytes.Contains(all, []byte(secret)) {
			t.Errorf("the store tells %s", secret)
		}
	}
	if _, got := ask(keeper(t, l), aKey, "body"); got != "fault" {
		t.Errorf("a record that was changed: %s", got)
	}
}

func TestClientKeysPerDayAreLimited(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := newClock()
		l := newLedger(at.now)
		most := rapid.IntRange(1, 200).Draw(t, "max")
		config := idempotent.Config{Store: l, Now: at.now, Max: most, Attempt: func() string { return "a" }}
		var nodes []*idempotent.Keeper
		for range 2 {
			k, err := idempotent.New(config)
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, k)
		}
		var begun []time.Time
		for i := range rapid.IntRange(1, 300).Draw(t, "requests") {
			if i%20 == 19 {
				at.pass(time.Duration(rapid.IntRange(0, 6*3600).Draw(t, "seconds")) * time.Second)
			}
			key := aKey
			key.Text = fmt.Sprint(i)
			_, _, refused, err := nodes[i%2].Begin(context.Background(), key, "d")
			switch {
			case err != nil:
				t.Fatal(err)
			case refused == nil:
				begun = append(begun, at.now())
			case refused.Status != 429 || refused.Header.Get("Retry-After") == "":
				t.Fatal(refused)
			}
			within := 0
			for _, b := range begun {
				if at.now().Sub(b) < 24*time.Hour {
					within++
				}
			}
			if within > most {
				t.Fatalf("%d keys of %d", within, most)
			}
		}
	})
}

func TestWaitingForRetryAfterHelps(t *testing.T) {
	at := newClock()
	l := newLedger(at.now)
	k := keeper(t, l, func(c *idempotent.Config) { c.Max = 2 })
	for i, want := range []string{"begin", "begin", "429", "429"} {
		key := aKey
		key.Text = fmt.Sprint(i)
		if _, got := ask(k, key, "body"); got != want {
			t.Errorf("%d: %s", i, got)
		}
	}
	other := aKey
	other.Client, other.Text = "another", "x"
	if _, got := ask(k, other, "body"); got != "begin" {
		t.Errorf("another client: %s", got)
	}
	if _, got := ask(k, idempotent.Key{Client: "reader", User: "u-1", Resource: "/articles", Text: "0"}, "body"); got != "idempotency_in_progress" {
		t.Errorf("a known key needs no room: %s", got)
	}
	aKey := aKey
	aKey.Text = "later"
	_, _, refused, _ := k.Begin(t.Context(), aKey, "d")
	wait, err := time.ParseDuration(refused.Header.Get("Retry-After") + "s")
	if err != nil || wait < 24*time.Hour || wait > 25*time.Hour {
		t.Fatal(wait, err)
	}
	at.pass(wait)
	if _, got := ask(k, aKey, "body"); got != "begin" {
		t.Errorf("after %v: %s", wait, got)
	}
}

func TestQuotedAndBareIdempotencyKeysAreRead(t *testing.T) {
	for text, want := range map[string]string{
		`8e03978e-40d5-43dd-bc93-6894a57f9324`: "8e03978e-40d5-43dd-bc93-6894a57f9324", `"a"`: "a", ` a `: "a", `"a b"`: "a b", strings.Repeat("x", 255): strings.Repeat("x", 255),
		``: "-", `""`: "-", `"`: "-", `a"b`: "-", `"a\"b"`: "-", "a\x01": "-", "ä": "-", strings.Repeat("x", 256): "-",
	} {
		got, given, refused := idempotent.Parse(http.Header{"Idempotency-Key": {text}})
		if !given || (refused != nil) != (want == "-") || refused == nil && got != want || refused != nil && (refused.Status != 400 || refused.Field != "Idempotency-Key") {
			t.Errorf("%q: %q %v", text, got, refused)
		}
	}
	if _, _, refused := idempotent.Parse(http.Header{"Idempotency-Key": {"a", "a"}}); refused == nil {
		t.Error("two keys are one")
	}
	if _, given, refused := idempotent.Parse(http.Header{}); given || refused != nil {
		t.Error("none is one")
	}
}

func TestStatusDecidesTheIdempotencyOutcome(t *testing.T) {
	for status, want := range map[int]idempotent.Outcome{
		200: idempotent.Final, 201: idempotent.Final, 303: idempotent.Final, 400: idempotent.Final, 409: idempotent.Final, 422: idempotent.Final, 500: idempotent.Final,
		499: idempotent.Unknown, 502: idempotent.Unknown, 504: idempotent.Unknown, 401: idempotent.Undone, 429: idempotent.Undone, 503: idempotent.Undone,
	} {
		if got := idempotent.OutcomeOf(status); got != want {
			t.Errorf("%d: %d", status, got)
		}
	}
}

func TestUnworkableConfigsAreRefused(t *testing.T) {
	l := newLedger(time.Now)
	for _, c := range []idempotent.Config{
		{}, {Store: l, Now: time.Now}, {Store: l, Now: time.Now, Attempt: func() string { return "" }, Keep: time.Second},
		{Store: l, Now: time.Now, Attempt: func() string { return "" }, Max: -1},
	} {
		if _, err := idempotent.New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// faster is a ledger in which somebody else is always faster.
type faster struct{ *ledger }

func (l faster) Create(ctx context.Context, r store.Record) (store.Record, error) {
	if r.Kind == store.KindIdempotency {
		var other store.Idempotency
		if err := store.Decode(r.Value, &other); err != nil {
			return r, err
		}
		other.Attempt = "somebody else's"
		if _, err := store.Create(ctx, l.ledger, r, &other); err != nil {
			return r, err
		}
	}
	return l.ledger.Create(ctx, r)
}

func TestLoserOfTheRaceDoesNotBegin(t *testing.T) {
	l := newLedger(newClock().now)
	k := keeper(t, l, func(c *idempotent.Config) { c.Store = faster{l} })
	if _, got := ask(k, aKey, "body"); got != "idempotency_in_progress" {
		t.Error(got)
	}
}

func TestIdempotencyKeyCountsForAWholeDay(t *testing.T) {
	at := newClock()
	k := keeper(t, newLedger(at.now), func(c *idempotent.Config) { c.Max = 1 })
	at.pass(29*time.Minute + 59*time.Second) // 12:59:59
	if _, got := ask(k, aKey, "body"); got != "begin" {
		t.Fatal(got)
	}
	at.pass(23*time.Hour + 30*time.Minute)
	other := aKey
	other.Text = "other"
	if _, got := ask(k, other, "body"); got != "429" {
		t.Error(got)
	}
}

// N06: those who cannot do anything, or have used much, leave keys for the others.
func TestFewCallersCannotExhaustEveryonesKeys(t *testing.T) {
	for name, c := range map[string]struct {
		client string
		share  int // of each caller, of all
		most   int
	}{"users of a client": {"app", 2, 20}, "callers without a token": {"", 20, 200}} {
		t.Run("N06 "+name, func(t *testing.T) {
			k := keeper(t, newLedger(newClock().now), func(c *idempotent.Config) { c.Max = 20 })
			n := 0
			use := func(share string, undo bool) string {
				n++
				a, got := ask(k, idempotent.Key{Client: c.client, Share: share, Text: fmt.Sprint(n)}, "body")
				if undo && got == "begin" {
					if err := a.Undo(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				return got
			}
			for range 3 * c.most {
				if got := use("a", true); got != "begin" {
					t.Fatalf("requests of which nothing was done: %s at number %d", got, n)
				}
			}
			for range c.share {
				if got := use("a", false); got != "begin" {
					t.Fatal(got)
				}
			}
			if got := use("a", false); got != "429" {
				t.Errorf("beyond the share of one: %s", got)
			}
			for i := range c.most - c.share {
				if got := use(fmt.Sprint("b", i/c.share), false); got != "begin" {
					t.Fatalf("another caller: %s at %d", got, i)
				}
			}
			if got := use("c", false); got != "429" {
				t.Errorf("beyond what all have: %s", got)
			}
		})
	}
}
