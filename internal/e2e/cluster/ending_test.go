package cluster

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// N02. What a user ends at one node is dead at the others: refresh tokens and sessions with
// the answer, access tokens within a second.
func TestUserEndedAtOneNodeIsEndedAtAll(t *testing.T) {
	for button, value := range map[string]string{"all": "everything", "withdraw": ""} {
		t.Run(button, func(t *testing.T) {
			c := start(t, plan{})
			v, other := c.signIn(t, c.nodes[0]), c.signIn(t, c.nodes[1])
			all := make([]family, 9)
			for i := range all {
				all[i] = c.grant(t, v, c.nodes[i%nodesOfCluster])
				if a, err := c.nodes[(i+1)%nodesOfCluster].read(all[i].access); err != nil || a.status != http.StatusOK {
					t.Fatal("before the end:", a, err)
				}
			}
			code := c.code(t, other)
			page := v.Get(c.issuer + "/account")
			if value == "" {
				value = harness.Buttons(t, page, "withdraw")[0]
			}
			if out := v.Submit(page, url.Values{button: {value}}); out.Status != http.StatusOK {
				t.Fatalf("%d %.300s", out.Status, out.Body)
			}
			ended := time.Now()
			for i, f := range all {
				if a, err := c.refresh(c.nodes[(i+1)%nodesOfCluster], f.refresh); err != nil || !a.refusedGrant() {
					t.Errorf("a refresh token at another node: %v %v", a, err)
				}
			}
			if a, err := c.exchange(c.nodes[2], code); err != nil || !a.refusedGrant() {
				t.Errorf("a code at another node: %v %v", a, err)
			}
			if p := other.Get(c.issuer + "/account"); strings.Contains(p.Body, `name="password"`) != (button == "all") {
				t.Errorf("the session at another node: %d %.300s", p.Status, p.Body)
			}
			for i, f := range all {
				if last := lastAccepted(t, c.nodes[(i+1)%nodesOfCluster], f.access, ended); last > time.Second {
					t.Errorf("an access token was accepted %v after the end", last)
				}
			}
		})
	}
}
