package variantb

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func names(t *testing.T, b store.Backend, with string) *Names {
	t.Helper()
	keys, err := secret.NewKeys(bytes.Repeat([]byte(with), 32))
	if err != nil {
		t.Fatal(err)
	}
	return &Names{b, func(context.Context) (*secret.Keys, error) { return keys, nil }}
}

func TestOpenIDIsStableAcrossSecrets(t *testing.T) {
	m := storetest.NewMemory(nil)
	old, fresh := names(t, m, "a"), names(t, m, "b")
	first, err := old.openID(t.Context(), "c", "u")
	if err != nil || len(first) != nameLength || first[:1] != nameFirst {
		t.Fatalf("%q %v", first, err)
	}
	if again, err := fresh.openID(t.Context(), "c", "u"); err != nil || again != first {
		t.Errorf("%q %v after %q", again, err, first)
	}
	if other, _ := names(t, storetest.NewMemory(nil), "b").openID(t.Context(), "c", "u"); other == first {
		t.Error("the name does not depend on the secret: anybody can make it")
	}
	if all, err := m.List(t.Context(), store.KindPairwise, "u", "", 10); err != nil || len(all) != 1 || !all[0].Expires.IsZero() {
		t.Errorf("%v %v", all, err)
	}
}

func TestOpenIDsDifferByUserAndSite(t *testing.T) {
	n := names(t, storetest.NewMemory(nil), "a")
	seen := map[string]string{}
	add := func(what, name string, err error) {
		t.Helper()
		if err != nil || seen[name] != "" {
			t.Errorf("%s is called %q as %s: %v", what, name, seen[name], err)
		}
		seen[name] = what
	}
	for _, pair := range [][2]string{{"c", "u"}, {"d", "u"}, {"c", "v"}, {"cu", ""}, {"", "cu"}} {
		name, err := n.openID(t.Context(), pair[0], pair[1])
		add("openid of "+pair[0]+"/"+pair[1], name, err)
	}
	for _, c := range []oauth.Client{{ID: "c"}, {ID: "d"}, {ID: "c", Owner: "c"}, {ID: "c", Owner: "d"}} {
		name, err := n.unionID(t.Context(), &c, "u")
		add("unionid of "+c.Owner+"/"+c.ID, name, err)
	}
	first, _ := n.unionID(t.Context(), &oauth.Client{ID: "x", Owner: "acme"}, "u")
	if again, err := n.unionID(t.Context(), &oauth.Client{ID: "y", Owner: "acme"}, "u"); err != nil || again != first {
		t.Errorf("of one owner: %q and %q, %v", first, again, err)
	}
}

// Nodes with different secrets, in the moments of a change, meet at one record.
func TestParallelOpenIDCreationsAgree(t *testing.T) {
	m := storetest.NewMemory(nil)
	var mu sync.Mutex
	got := map[string]bool{}
	var all sync.WaitGroup
	for i := range 32 {
		n := names(t, m, string(rune('a'+i%4)))
		all.Go(func() {
			name, err := n.openID(t.Context(), "c", "u")
			mu.Lock()
			defer mu.Unlock()
			if got[name] = true; err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestFaultCreatesNoOpenID(t *testing.T) {
	m := storetest.NewMemory(nil)
	n := names(t, m, "a")
	fault := errors.New("away")
	m.Fail(fault)
	if name, err := n.openID(t.Context(), "c", "u"); !errors.Is(err, fault) || name != "" {
		t.Errorf("%q %v", name, err)
	}
	m.Fail(nil)
	m.LoseReply(fault)
	if _, err := n.openID(t.Context(), "c", "u"); err != nil && !errors.Is(err, fault) {
		t.Error(err)
	}
	if _, err := n.openID(t.Context(), "c", "u"); err != nil {
		t.Error("the record that was written is not read:", err)
	}
	n.Keys = func(context.Context) (*secret.Keys, error) { return nil, fault }
	if _, err := n.openID(t.Context(), "d", "u"); !errors.Is(err, fault) {
		t.Error(err)
	}
}
