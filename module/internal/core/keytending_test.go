package core

import (
	"context"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
)

// noted keeps what was recorded.
type noted struct{ events []audit.Event }

func (n *noted) Record(_ context.Context, e audit.Event) { n.events = append(n.events, e) }

func TestLastStartedConfigTendsTheKeys(t *testing.T) {
	var k KeyTending
	first, second := new(noted), new(noted)
	if k.Age() != 0 {
		t.Error("keys are replaced though nothing runs")
	}
	k.record(t.Context(), keyring.Change{Kid: "nobody"})
	endOne := k.Begin(30*24*time.Hour, first)
	if k.Age() != 30*24*time.Hour {
		t.Errorf("the default is %v", k.Age())
	}
	endTwo := k.Begin(24*time.Hour, second)
	if k.Age() != 24*time.Hour {
		t.Errorf("after a reload: %v", k.Age())
	}
	k.record(t.Context(), keyring.Change{Kid: "a", Why: keyring.WhySchedule})
	endTwo() // another app of the configuration did not start
	k.record(t.Context(), keyring.Change{Kid: "b", Why: keyring.WhyCommand, Revoked: true})
	endTwo()
	if k.Age() != 30*24*time.Hour {
		t.Errorf("after the second ended: %v", k.Age())
	}
	endOne()
	k.record(t.Context(), keyring.Change{Kid: "c"})
	if len(first.events) != 1 || first.events[0].Name != audit.KeyRevoked || first.events[0].Key != "b" {
		t.Errorf("the first was told %+v", first.events)
	}
	if len(second.events) != 1 || second.events[0].Name != audit.KeyRotated || second.events[0].Reason != "schedule" {
		t.Errorf("the second was told %+v", second.events)
	}
}
