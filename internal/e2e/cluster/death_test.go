package cluster

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
)

func TestAnotherNodeFinishesWhatAKilledOneBegan(t *testing.T) {
	c := start(t, plan{})
	a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]

	// The page to sign in on is of A, which then is gone; what comes behind it is of B.
	v := c.visitor(t, a)
	page := follow(t, v, c.authorizeURL())
	a.process.Kill()
	v.at = b
	page = v.Submit(page, url.Values{"username": {username}, "password": {password}})
	if page.Status != http.StatusOK {
		t.Fatalf("the form of a node that is gone: %d %.300s", page.Status, page.Body)
	}
	page = v.Submit(page, url.Values{"decision": {"allow"}})
	code := page.Location(t).Query().Get("code")
	if code == "" {
		t.Fatalf("no code: %d %s", page.Status, page.Header.Get("Location"))
	}
	// The code is of B, which is gone when it is exchanged.
	a.run(t)
	b.process.Kill()
	got, err := c.exchange(d, code)
	if err != nil || got.status != http.StatusOK {
		t.Fatal("the code of a node that is gone:", got, err)
	}
	b.run(t)
	f := family{got.field("access_token"), got.field("refresh_token")}
	for _, n := range c.nodes {
		if got, err := n.read(f.access); err != nil || got.status != http.StatusOK {
			t.Error("its access token:", got, err)
		}
	}
	d.process.Kill()
	if got, err := c.refresh(a, f.refresh); err != nil || got.status != http.StatusOK {
		t.Error("its refresh token:", got, err)
	}
}

func TestSessionIsValidOnAllNodes(t *testing.T) {
	c := start(t, plan{})
	v := c.signIn(t, c.nodes[0])
	for _, n := range c.nodes[1:] {
		v.at = n
		if got, err := c.exchange(c.nodes[0], c.code(t, v)); err != nil || got.status != http.StatusOK {
			t.Error("a code of another node:", got, err)
		}
	}
}

func TestNodesStartingOnAnEmptyStoreShareKeys(t *testing.T) {
	for range times(3, 30) {
		c := start(t, plan{})
		sets := make([]string, nodesOfCluster)
		// A key is made when it is first needed: by all of them at once.
		atOnce(nodesOfCluster, func(i int) {
			r, err := http.NewRequest(http.MethodGet, c.issuer+"/.well-known/jwks.json", nil)
			if err != nil {
				t.Error(err)
				return
			}
			a, err := c.nodes[i].send(r)
			if err != nil || a.status != http.StatusOK {
				t.Error(a, err)
			}
			sets[i] = string(a.body)
		})
		if len(slices.Compact(sets)) != 1 {
			t.Errorf("the nodes have keys of their own: %q", sets)
		}
		for _, n := range c.nodes {
			n.process.Kill()
		}
	}
}
