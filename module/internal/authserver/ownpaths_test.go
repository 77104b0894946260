package authserver

import (
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver/ownpaths"
	"github.com/gatehouse/gatehouse/module/internal/authserver/registration"
)

func TestOwnPathsMatchTheRouteTable(t *testing.T) { // S05
	for _, issuer := range []string{"https://id.example", "https://id.example/auth"} {
		for _, open := range []bool{false, true} {
			u, err := url.Parse(issuer)
			if err != nil {
				t.Fatal(err)
			}
			s := &Server{Config: Config{Issuer: u}, base: u.Path}
			if open {
				s.Registration = new(registration.Rules)
			}
			table, own := s.table(), ownpaths.New(u.Path, open)
			for path := range table {
				if at := strings.TrimSuffix(path, "/"); at != s.base && !own.Has(path) {
					t.Errorf("%s: %s has a route and is left to the next handler", issuer, path)
				}
			}
			for _, path := range ownpaths.Endpoints {
				if _, ok := table[s.base+path]; !ok {
					t.Errorf("%s: %s has no route", issuer, path)
				}
			}
		}
	}
}
