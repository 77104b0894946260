package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

type noRevoker struct{}

func (noRevoker) Revoke(context.Context, store.Revocation) error { return nil }

func TestEveryGrantButClientCredentialsNeedsUsers(t *testing.T) {
	stored, err := clientstore.New(clientstore.Config{Store: storetest.NewMemory(nil), Revocations: noRevoker{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, grant := range append(oauth.DeprecatedGrantTypes, oauth.GrantTypes...) {
		g := &Config{Stored: stored, Configured: map[string]*oauth.Client{"web": {ID: "web", Grants: []oauth.GrantType{grant}}}}
		if got := g.needsUsers(t.Context()); got != (grant != oauth.ClientCredentials) {
			t.Errorf("%s: %v", grant, got)
		}
	}
}

// outdated is a directory whose source has changed to what it cannot read.
type outdated struct {
	directory.Directory
	fault error
}

func (outdated) Lookup(context.Context, string) (directory.User, bool, error) {
	return directory.User{}, false, nil
}

func (d outdated) Fault(context.Context) error { return d.fault }

func TestDoctorWarnsOfUnreadableUserChanges(t *testing.T) {
	for want, fault := range map[string]error{"the user directory answers": nil, "changed users are not read: larger than max_size": errors.New("larger than max_size")} {
		var found adminapi.Findings
		(&Config{Users: outdated{fault: fault}}).checkDirectory(t.Context(), &found)
		if len(found) != 1 || !strings.Contains(fmt.Sprint(found[0]), want) {
			t.Errorf("%+v, want %q", found, want)
		}
	}
}
