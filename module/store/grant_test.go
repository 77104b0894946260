package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var born = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	grace = 10 * time.Second
	idle  = 24 * time.Hour
)

// family is at generation 5, rotated when it was born, with a month to live.
func family() Grant {
	return Grant{ID: "g", Subject: "s", Generation: 5, RotatedAt: born, IssuedAt: born, Expires: born.Add(30 * 24 * time.Hour)}
}

func TestRotation(t *testing.T) {
	revoked := family().Revoke(born)
	for _, c := range []struct {
		name        string
		grant       Grant
		generation  uint64
		after       time.Duration
		grace, idle time.Duration
		want        Rotation
	}{
		{"the current one", family(), 5, time.Hour, grace, idle, RotationNext},
		{"the current one at once", family(), 5, 0, grace, idle, RotationNext},
		{"the previous one within the grace", family(), 4, grace - 1, grace, idle, RotationAgain},
		{"the previous one at the end of the grace", family(), 4, grace, grace, idle, RotationReuse},
		{"the previous one without grace", family(), 4, 0, 0, idle, RotationReuse},
		// N17: by a clock that is behind the one of the node that rotated, or was set back since.
		{"the previous one, by a clock that is behind", family(), 4, -clockSkew, grace, idle, RotationAgain},
		{"the previous one, by a clock that is too far behind", family(), 4, -clockSkew - 1, grace, idle, RotationReuse},
		{"the previous one without grace, by a clock that is behind", family(), 4, -time.Second, 0, idle, RotationReuse},
		{"the current one, by a clock that is too far behind", family(), 5, -time.Hour, grace, idle, RotationNext},
		{"an older one within the grace", family(), 3, 0, grace, idle, RotationReuse},
		{"one that the store has lost", family(), 8, 0, grace, idle, RotationNext},
		{"none", family(), 0, 0, grace, idle, RotationReuse},
		{"just before the idle end", family(), 5, idle - 1, grace, idle, RotationNext},
		{"at the idle end", family(), 5, idle, grace, idle, RotationDead},
		{"without an idle end", family(), 5, 29 * 24 * time.Hour, grace, 0, RotationNext},
		{"just before the absolute end", family(), 5, 30*24*time.Hour - 1, grace, 0, RotationNext},
		{"at the absolute end", family(), 5, 30 * 24 * time.Hour, grace, 0, RotationDead},
		{"an old one after the end", family(), 2, 30 * 24 * time.Hour, grace, 0, RotationDead},
		{"revoked", revoked, 5, time.Hour, grace, idle, RotationDead},
		{"revoked, the previous one", revoked, 4, time.Second, grace, idle, RotationDead},
	} {
		now := born.Add(c.after)
		got, rotation := c.grant.Rotate(c.generation, now, c.grace, c.idle)
		want := c.grant
		switch c.want {
		case RotationNext:
			want.Generation, want.RotatedAt = c.generation+1, now
		case RotationReuse:
			want.RevokedAt = now
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Grant{})); rotation != c.want || diff != "" {
			t.Errorf("%s: rotation %d, want %d\n%s", c.name, rotation, c.want, diff)
		}
	}
}

func TestFirstRevocationTimeIsKept(t *testing.T) {
	g := family().Revoke(born)
	if again := g.Revoke(born.Add(time.Hour)); !again.RevokedAt.Equal(born) {
		t.Errorf("revoked at %v, want the first time", again.RevokedAt)
	}
}

// Whatever is presented, and when: generations only grow; a dead family
// stays dead; a generation that had its turn never rotates again.
func TestRefreshGenerationsNeverComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, now := family(), born
		spent := make(map[uint64]bool)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*grace)).Draw(t, "pause")))
			presented := rapid.Uint64Range(0, 12).Draw(t, "generation")
			next, rotation := g.Rotate(presented, now, grace, idle)
			switch rotation {
			case RotationNext:
				if spent[presented] || g.Revoked() || presented < g.Generation || next.Generation != presented+1 {
					t.Fatalf("generation %d rotated %+v to %+v", presented, g, next)
				}
				spent[presented] = true
			case RotationAgain:
				if !spent[presented] && presented != 4 || now.Sub(g.RotatedAt) >= grace {
					t.Fatalf("generation %d was answered again", presented)
				}
			case RotationReuse:
				if !next.Revoked() {
					t.Fatal("reuse left the family alive")
				}
			}
			if g.Revoked() && (rotation != RotationDead || !next.Revoked()) {
				t.Fatalf("a dead family came back: %+v", next)
			}
			g = next
		}
	})
}

// N14: what was answered 503 may come again without grace, until the successor is used.
func TestRotateAfterALostRotation(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g := Grant{Generation: 2, RotatedAt: now, Expires: now.Add(time.Hour), RetryUntil: now.Add(time.Minute)}
	at := func(g Grant, generation uint64, after time.Duration) (Grant, Rotation) {
		return g.Rotate(generation, now.Add(after), 0, 0)
	}
	if _, r := at(g, 1, 59*time.Second); r != RotationAgain {
		t.Error("before its end:", r)
	}
	if _, r := at(g, 1, time.Minute); r != RotationReuse {
		t.Error("at its end:", r)
	}
	next, r := at(g, 2, time.Second)
	if r != RotationNext || !next.RetryUntil.IsZero() {
		t.Error("the successor:", r, next.RetryUntil)
	}
	if _, r := at(next, 2, 2*time.Second); r != RotationReuse {
		t.Error("the successor again:", r)
	}
}
