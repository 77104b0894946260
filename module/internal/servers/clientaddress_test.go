package servers

import (
	"slices"
	"testing"
)

func TestWhoIsTrustedDependsOnTheListener(t *testing.T) {
	tcp, socket := []string{":80"}, []string{"unix//run/a.sock|0660"}
	both := slices.Concat(tcp, socket)
	for _, c := range []struct {
		Proxies
		trusted bool
	}{
		{Proxies{tcp, false, false}, false},
		{Proxies{tcp, true, false}, true},
		{Proxies{tcp, false, true}, false},
		{Proxies{socket, false, false}, false},
		{Proxies{socket, true, false}, false},
		{Proxies{socket, false, true}, true},
		{Proxies{both, true, false}, true},
		{Proxies{both, false, true}, true},
		{Proxies{[]string{"unix/@abstract"}, true, false}, false},
		{Proxies{[]string{"fd/3"}, false, true}, true},
		{Proxies{[]string{"fd/3"}, true, false}, true},
		{Proxies{nil, true, false}, true},
	} {
		if got := c.Trusted(); got != c.trusted {
			t.Errorf("%+v: trusted %v", c.Proxies, got)
		}
	}
}
