package store

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

func TestClientSecretsOverlapAsConfigured(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	read := Client{Client: oauth.Client{ID: "c"}}.Rotate("first", now, 0)
	next := read.Rotate("second", now.Add(time.Hour), time.Minute)
	if len(read.Secrets) != 1 || !read.Secrets[0].Until.IsZero() {
		t.Errorf("the record that was read must stay as it is: %+v", read.Secrets)
	}
	if len(next.Secrets) != 2 || !next.Secrets[0].Until.Equal(now.Add(time.Hour+time.Minute)) || next.Secrets[1].Hash != "second" || !next.Secrets[1].Until.IsZero() {
		t.Errorf("%+v", next.Secrets)
	}
	for at, live := range map[time.Duration]bool{0: true, time.Minute - 1: true, time.Minute: false} {
		if next.Secrets[0].Live(now.Add(time.Hour+at)) != live {
			t.Errorf("%v after the rotation the old secret is not %v", at, live)
		}
	}
	later := next.Rotate("third", now.Add(time.Hour+time.Second), time.Hour)
	if !later.Secrets[0].Until.Equal(next.Secrets[0].Until) {
		t.Error("a rotation prolonged the secret before the last")
	}
	if now := later.Rotate("fourth", now.Add(time.Hour+time.Second), 0); len(now.Secrets) != 1 {
		t.Errorf("without an overlap: %+v", now.Secrets)
	}
}

func TestRegistrationIsMarkedUsedOnce(t *testing.T) {
	c := Client{UnusedUntil: time.Unix(1, 0)}
	kept, ok := c.Used()
	if !ok || !kept.UnusedUntil.IsZero() || c.UnusedUntil.IsZero() {
		t.Errorf("%+v, %v", kept, ok)
	}
	if _, ok := kept.Used(); ok {
		t.Error("kept twice")
	}
}
