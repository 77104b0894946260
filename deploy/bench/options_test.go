package main

import (
	"path/filepath"
	"testing"
	"time"
)

func TestOptions(t *testing.T) {
	o, err := parseOptions(nil)
	if err != nil || o.rotations < 6 || o.slice < 2*time.Second || o.slice > 3*time.Second || !filepath.IsAbs(o.caddy) || !filepath.IsAbs(o.out) || !o.only.MatchString("") {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = parseOptions([]string{"-only", "api_.*", "-rotations", "9", "-profile", "30s"})
	if err != nil || o.rotations != 9 || o.profile != 30*time.Second || !o.only.MatchString("api_proxy") || o.only.MatchString("nginx") {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"-rotations", "0"}, {"-slice", "0s"}, {"-connections", "0"}, {"-live", "10"}, {"-only", "("}, {"rows"}} {
		if _, err := parseOptions(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
