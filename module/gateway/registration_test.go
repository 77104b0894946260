package gateway

import (
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/clientstore"
)

func TestRegistrationPlacesFitTheLedger(t *testing.T) {
	for limit, good := range map[int]bool{-1: false, 0: true, clientstore.MaxRegistered: true, clientstore.MaxRegistered + 1: false} {
		r := Registration{InitialTokens: []string{"{env.INITIAL}"}, Max: limit}
		if err := r.Check(); (err == nil) != good {
			t.Errorf("max %d: %v", limit, err)
		}
	}
}

func TestUnusableInitialTokenIsRefusedAtLoad(t *testing.T) {
	for value, good := range map[string]bool{
		"0123456789-0123456789-0123456789-~+/=": true, "0123456789 0123456789 0123456789": false, "0123456789\n0123456789-0123456789": false,
		"0123456789,0123456789-0123456789": false, "ünf-456789-0123456789-0123456789": false,
	} {
		t.Setenv("INITIAL", value)
		r := &Registration{InitialTokens: []string{"{env.INITIAL}"}}
		if built, err := r.build(caddy.NewReplacer()); (err == nil) != good || good && len(built.InitialTokens) != 1 {
			t.Errorf("%q: %v", value, err)
		}
	}
	if built, err := (*Registration)(nil).build(caddy.NewReplacer()); built != nil || err != nil {
		t.Errorf("%v, %v", built, err)
	}
}
