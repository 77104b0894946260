package apilimit

import (
	"net/netip"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
)

func TestPolicyKeyIsValidated(t *testing.T) {
	for by, ok := range map[string]bool{"client": true, "all": true, "t-{http.request.host}": true, "": false, "clinet": false} {
		err := Policy{Name: "a", By: by, Limit: 1, Window: caddy.Duration(time.Second)}.Check()
		if (err == nil) != ok {
			t.Errorf("by %q: %v", by, err)
		}
	}
}

func TestPolicyCannotBeNamedNone(t *testing.T) {
	if err := (Policy{Name: unreportedLabel, By: "ip", Limit: 1, Window: caddy.Duration(time.Second)}).Check(); err == nil {
		t.Error("metrics could not tell its decisions from those without a policy")
	}
}

func TestDefaultLimiterHasAName(t *testing.T) {
	p := Policy{Name: "client", By: "client", Limit: 1, Window: caddy.Duration(time.Second)}
	unnamed, err := p.build("")
	named, err2 := p.build("default")
	if err != nil || err2 != nil || unnamed.Limiter != named.Limiter {
		t.Error("`limiter default` is another one than the default")
	}
}

func TestExemptionsAreClientsAddressesAndRanges(t *testing.T) {
	unknown := func(id string) bool { return id != "nightly" }
	l := &Limit{Exempt: []string{"nightly", "192.0.2.7", "10.1.2.3/8", "2001:db8::1", "::ffff:192.0.2.8"}}
	if err := l.buildExempt(unknown); err != nil {
		t.Fatal(err)
	}
	want := []string{"192.0.2.7/32", "10.0.0.0/8", "2001:db8::1/128", "192.0.2.8/32"}
	for _, p := range want {
		if !l.ranges.all[netip.MustParsePrefix(p)] {
			t.Errorf("%s is missing in %v", p, l.ranges.all)
		}
	}
	if len(l.ranges.all) != len(want) || !l.clients["nightly"] || !l.ranges.contains(netip.MustParseAddr("192.0.2.7")) {
		t.Errorf("%v, want %v", l.ranges.all, want)
	}
	for _, bad := range []string{"nigthly", "10.0.0.0/33", "300.0.0.1"} {
		if err := (&Limit{Exempt: []string{bad}}).buildExempt(unknown); err == nil {
			t.Errorf("%s is taken for a client", bad)
		}
	}
}
