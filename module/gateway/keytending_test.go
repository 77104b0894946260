package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// noted keeps what was recorded.
type noted struct{ events []audit.Event }

func (n *noted) Record(_ context.Context, e audit.Event) { n.events = append(n.events, e) }

func TestTheConfigurationThatBeganLastLooksAfterTheKeys(t *testing.T) {
	var k keyTending
	first, second := new(noted), new(noted)
	one := &App{trail: first}
	two := &App{trail: second, Tokens: Tokens{RotateKeys: caddy.Duration(24 * time.Hour)}}
	if k.every() != 0 {
		t.Error("keys are replaced though nothing runs")
	}
	k.record(t.Context(), token.KeyChange{Kid: "nobody"})
	k.begin(one)
	if k.every() != 30*24*time.Hour {
		t.Errorf("the default is %v", k.every())
	}
	k.begin(two)
	if k.every() != 24*time.Hour {
		t.Errorf("after a reload: %v", k.every())
	}
	k.record(t.Context(), token.KeyChange{Kid: "a", Why: token.WhySchedule})
	k.end(two) // another app of the configuration did not start
	k.record(t.Context(), token.KeyChange{Kid: "b", Why: token.WhyCommand, Revoked: true})
	k.end(two)
	if k.every() != 30*24*time.Hour {
		t.Errorf("after the second ended: %v", k.every())
	}
	k.end(one)
	k.record(t.Context(), token.KeyChange{Kid: "c"})
	if len(first.events) != 1 || first.events[0].Name != audit.KeyRevoked || first.events[0].Key != "b" {
		t.Errorf("the first was told %+v", first.events)
	}
	if len(second.events) != 1 || second.events[0].Name != audit.KeyRotated || second.events[0].Reason != "schedule" {
		t.Errorf("the second was told %+v", second.events)
	}
}

func TestKeysAreNotReplacedFasterThanTheRingCanHoldThem(t *testing.T) {
	for _, c := range []struct {
		access, every time.Duration
		fits          bool
	}{
		{0, 0, true}, {24 * time.Hour, 0, true}, {15 * time.Hour, time.Hour, true}, {16 * time.Hour, time.Hour, false},
		{365 * 24 * time.Hour, 0, true}, {500 * 24 * time.Hour, 0, false},
	} {
		err := Tokens{Access: caddy.Duration(c.access), RotateKeys: caddy.Duration(c.every)}.checkKeys()
		if (err == nil) != c.fits {
			t.Errorf("tokens of %v with keys of %v: %v", c.access, c.every, err)
		}
	}
}
