package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
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

// A node with another secret lists the keys that it cannot sign with.
func TestDoctorFailsWhereANodeCannotSign(t *testing.T) {
	kept := storetest.NewMemory(nil)
	revocations, err := revocationlist.New(revocationlist.Config{Store: kept, MaxTokenLife: func() time.Duration { return time.Hour }})
	if err != nil {
		t.Fatal(err)
	}
	checked := func(secrets ...string) (*keyring.Ring, adminapi.Findings) {
		t.Helper()
		var masters [][]byte
		for _, s := range secrets {
			masters = append(masters, []byte(strings.Repeat(s, 32)))
		}
		keys, err := secret.NewKeys(masters...)
		if err != nil {
			t.Fatal(err)
		}
		ring, err := keyring.New(keyring.Config{
			Store: kept, Keys: func(context.Context) (*secret.Keys, error) { return keys, nil }, Revocations: revocations,
		})
		if err != nil {
			t.Fatal(err)
		}
		var found adminapi.Findings
		(&Config{Ring: ring, KeyAge: func() time.Duration { return 30 * 24 * time.Hour }}).checkKeys(t.Context(), &found)
		if len(found) != 1 {
			t.Fatalf("%+v", found)
		}
		return ring, found
	}
	ring, found := checked("s")
	if found[0].Grade != adminapi.GradeOK {
		t.Errorf("without a key: %+v", found)
	}
	if _, err := ring.Signer(t.Context(), "ES256"); err != nil {
		t.Fatal(err)
	}
	if _, found := checked("x", "s"); found[0].Grade != adminapi.GradeOK {
		t.Errorf("the old secret is the second one: %+v", found)
	}
	if _, found := checked("x"); found[0].Grade != adminapi.GradeFail || !strings.Contains(found[0].Message, "cannot sign") {
		t.Errorf("another secret: %+v", found)
	}
}

// The last of many stored clients is looked at too, and a mistake that all have does not fill the screen.
func TestDoctorChecksEveryStoredClient(t *testing.T) {
	stored, err := clientstore.New(clientstore.Config{Store: storetest.NewMemory(nil), Revocations: noRevoker{}})
	if err != nil {
		t.Fatal(err)
	}
	add := func(id string, deprecated map[string]string) {
		t.Helper()
		_, _, err := stored.Create(t.Context(), clientstore.Definition{
			Client: oauth.Client{ID: id, RedirectURIs: []string{"https://app.example/cb"}}, DeprecatedGrants: deprecated,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const clients = 1500
	for i := range clients {
		add(fmt.Sprintf("c%04d", i), nil)
	}
	g := &Config{Stored: stored}
	check := func() (found adminapi.Findings) { g.checkClients(t.Context(), &found); return found }
	if found := check(); len(found) != 1 || found[0].Message != fmt.Sprintf("checked %d clients, no problems", clients) {
		t.Errorf("%+v", found)
	}
	old := map[string]string{"password": "2999-01-01"}
	add("z", old)
	if found := check(); len(found) != 1 || !strings.HasPrefix(found[0].Message, "client z may use ") {
		t.Errorf("%+v", found)
	}
	for i := range maxClientFindings {
		add(fmt.Sprintf("z%d", i), old)
	}
	if found := check(); len(found) != maxClientFindings+1 || found[maxClientFindings].Message != "1 problem of clients more" {
		t.Errorf("%d findings, the last is %+v", len(found), found[len(found)-1])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var found adminapi.Findings
	g.Configured = map[string]*oauth.Client{"web": {ID: "web"}}
	g.checkClients(ctx, &found)
	if len(found) != 1 || found[0].Grade != adminapi.GradeWarn || !strings.HasPrefix(found[0].Message, "checked 1 client, ") {
		t.Errorf("a slow store: %+v", found)
	}
}
