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
		without []string
	}{
		{Proxies{tcp, false, false, false}, false, nil},
		{Proxies{tcp, true, false, false}, true, nil},
		{Proxies{tcp, false, true, false}, false, nil},
		{Proxies{socket, false, false, false}, false, socket},
		{Proxies{socket, true, false, false}, false, socket},
		{Proxies{socket, false, true, false}, true, nil},
		{Proxies{both, true, false, false}, true, socket},
		{Proxies{both, false, true, false}, true, nil},
		{Proxies{[]string{"unix/@abstract"}, true, false, false}, false, []string{"unix/@abstract"}},
		{Proxies{[]string{"fd/3"}, false, true, false}, true, nil},
		{Proxies{[]string{"fd/3"}, true, false, false}, true, nil},
		{Proxies{nil, true, false, false}, true, nil},
		{Proxies{socket, false, false, true}, false, nil},
	} {
		if got := c.Trusted(); got != c.trusted {
			t.Errorf("%+v: trusted %v", c.Proxies, got)
		}
		if got := c.WithoutAddress(); !slices.Equal(got, c.without) {
			t.Errorf("%+v: without address %q", c.Proxies, got)
		}
	}
}
