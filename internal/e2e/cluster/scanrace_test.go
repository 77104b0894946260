package cluster

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Of many sessions of one person that scan a code at the same moment, over all nodes, one is
// asked whether to confirm; the others learn that they are late, and stay it.
func TestOfManyWhoScanOneCodeOverThreeNodesOneIsAsked(t *testing.T) {
	c := start(t, withPortal())
	const sessions = 64
	phones := make([]*device, sessions)
	for i := range phones {
		phones[i] = c.phone(t, c.nodes[i%nodesOfCluster], fmt.Sprintf("127.11.0.%d", i+1))
	}
	codes := times(4, 60)
	for round := range codes {
		s := c.screen(t, c.nodes[round%nodesOfCluster], fmt.Sprintf("127.12.%d.1", round))
		poll := s.hangs(t, "408")
		answers, errs := make([]answer, sessions), make([]error, sessions)
		at := time.Now()
		atOnce(sessions, func(i int) {
			answers[i], errs[i] = phones[i].via(c.nodes[(i+round)%nodesOfCluster]).open(s.confirmAddress())
		})
		asked := -1
		for i, a := range answers {
			switch {
			case errs[i] != nil:
				t.Fatal(errs[i])
			case a.status == http.StatusOK && strings.Contains(string(a.body), `name="number"`):
				if asked >= 0 {
					t.Fatalf("code %d: sessions %d and %d are asked", round, asked, i)
				}
				asked = i
			case a.status != http.StatusConflict:
				t.Error("a late one got", a)
			}
		}
		if asked < 0 {
			t.Fatalf("code %d: nobody is asked", round)
		}
		within(t, poll, 404, at)
		for i := range phones {
			late := phones[i].via(c.nodes[(i+round+1)%nodesOfCluster])
			if i%8 == 0 && i != asked {
				if a, err := late.open(s.confirmAddress()); err != nil || a.status != http.StatusConflict {
					t.Error("a late one that tries again got", a, err)
				}
			}
		}
		winner := phones[asked].via(c.nodes[round%nodesOfCluster])
		winner.confirm(t, s, winner.scan(t, s))
		v, _ := within(t, s.poll("404"), 405, time.Now())
		if got, err := c.redeem(c.nodes[(round+1)%nodesOfCluster], v.code); err != nil || got.field("openid") == "" {
			t.Error("the code:", got, err)
		}
	}
	t.Logf("%d codes x %d sessions over %d nodes: one scanner each", codes, sessions, nodesOfCluster)
}

// Of many decisions at the same moment, over all nodes and of all sorts, one counts, and all
// who decided are told which.
func TestOfManyDecisionsOverThreeNodesOneCounts(t *testing.T) {
	c := start(t, withPortal())
	phone := c.phone(t, c.nodes[0], "127.13.0.1")
	const parallel = 64
	codes := times(6, 60)
	became := make(map[string]int)
	for round := range codes {
		phone.from = fmt.Sprintf("127.13.1.%d", round+1) // what one address may do is not tested here
		s := c.screen(t, c.nodes[round%nodesOfCluster], fmt.Sprintf("127.14.%d.1", round))
		asks := phone.via(c.nodes[(round+1)%nodesOfCluster]).scan(t, s)
		poll := s.hangs(t, "404")
		wrong := fmt.Sprint(10 + (number(t, s.number)-9)%90)
		action, form := harness.Form(t, asks)
		kinds := []url.Values{
			{"decision": {"confirm"}, "number": {s.number}},
			{"decision": {"deny"}},
			{"decision": {"confirm"}, "number": {wrong}},
		}[:1+(round+2)%3] // not all of them each time, or hardly anything were confirmed
		for _, k := range kinds {
			maps.Copy(k, form)
		}
		answers, errs := make([]answer, parallel), make([]error, parallel)
		at := time.Now()
		atOnce(parallel, func(i int) {
			answers[i], errs[i] = phone.via(c.nodes[i%nodesOfCluster]).post(c.issuer, action, kinds[(i+round)%len(kinds)])
		})
		said := make(map[string]int)
		for i, a := range answers {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			said[ended(t, a)]++
		}
		outcome, state := "denied", 403
		if said["Confirmed"] > 0 {
			outcome, state = "confirmed", 405
		}
		if outcome == "confirmed" && said["Confirmed"] != parallel || said["The numbers do not match"] > 1 {
			t.Errorf("those who decided about code %d are told %v", round, said)
		}
		became[outcome]++
		v, _ := within(t, poll, state, at)
		if (v.code != "") != (outcome == "confirmed") {
			t.Errorf("%s, and the poll says %+v", outcome, v)
		}
		if outcome == "confirmed" {
			c.deliversOne(t, s, v.code)
		}
	}
	counted := make(map[string]float64)
	for _, outcome := range []string{"confirmed", "denied", "wrong_number"} {
		for _, n := range c.nodes {
			counted[outcome] += n.Metric(t, fmt.Sprintf(`caddy_gatehouse_tickets_total{kind="scan",outcome=%q}`, outcome))
		}
	}
	if counted["confirmed"] != float64(became["confirmed"]) || counted["denied"]+counted["wrong_number"] != float64(became["denied"]) {
		t.Errorf("%v, and the nodes count %v", became, counted)
	}
	t.Logf("%d codes x %d decisions over %d nodes: one outcome each, %v", codes, parallel, nodesOfCluster, became)
}

// deliversOne polls at all nodes at once, which all tell the same code, and redeems it.
func (c *cluster) deliversOne(t *testing.T, s *screen, code string) {
	t.Helper()
	const parallel = 12
	told := make([]hearing, parallel)
	atOnce(parallel, func(i int) { told[i] = s.ask(s.via(c.nodes[i%nodesOfCluster]), "404") })
	for _, h := range told {
		if h.err != nil || h.state != 405 || h.code != code {
			t.Errorf("a node tells %+v, another told the code %q", h, code)
		}
	}
	if got, err := c.redeem(c.nodes[0], code); err != nil || got.field("openid") == "" {
		t.Error("the code:", got, err)
	}
}

// post is Post for many at once.
func (d *device) post(origin, address string, form url.Values) (answer, error) {
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", origin)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return d.send(r)
}

// ended is the heading of the page that says how it ended.
func ended(t *testing.T, a answer) string {
	t.Helper()
	for _, heading := range []string{"Confirmed", "Denied", "The numbers do not match"} {
		if a.status == http.StatusOK && strings.Contains(string(a.body), "<h1>"+heading+"</h1>") {
			return heading
		}
	}
	t.Errorf("a decision came to %v", a)
	return ""
}

// B10.
func TestOfParallelRedemptionsOfVariantBOverThreeNodesOneSucceeds(t *testing.T) {
	c := start(t, withPortal())
	v := c.visitor(t, c.nodes[0])
	const parallel = 64
	codes := times(20, 500)
	for i := range codes {
		v.at = c.nodes[i%nodesOfCluster]
		code := v.Authorize(c.issuer+"/connect/oauth2/authorize?"+portalRequest("snsapi_userinfo"), username, password).Query().Get("code")
		answers, errs := make([]answer, parallel), make([]error, parallel)
		atOnce(parallel, func(i int) { answers[i], errs[i] = c.redeem(c.nodes[i%nodesOfCluster], code) })
		var won []answer
		for i, a := range answers {
			switch {
			case errs[i] != nil:
				t.Fatal(errs[i])
			case a.status == http.StatusOK:
				won = append(won, a)
			case a.status != http.StatusBadRequest || a.errcode() != 40163:
				t.Error("a loser got", a)
			}
		}
		if len(won) != 1 {
			t.Fatalf("%d of %d redemptions of code %d succeeded", len(won), parallel, i)
		}
		// The replays have ended what was issued, on every node.
		for _, n := range c.nodes {
			c.diesOfVariantB(t, n, won[0])
		}
	}
	t.Logf("%d codes x %d parallel redemptions over %d nodes: one success each", codes, parallel, nodesOfCluster)
}

// The codes of devices are begun at one node, confirmed at another, and redeemed at all.
func TestOfParallelRedemptionsOfADeviceCodeOverThreeNodesOneSucceeds(t *testing.T) {
	c := start(t, plan{change: []string{"\t\tclient machine {", `		client tv {
			secret tv-secret-0123456789-0123456789-0123456789
			grants device_code refresh_token
			scopes read
		}
		client machine {`}})
	tv := harness.Credentials{ID: "tv", Secret: "tv-secret-0123456789-0123456789-0123456789"}
	const parallel = 64
	codes := times(10, 200)
	for i := range codes {
		begun, err := c.form(c.nodes[i%nodesOfCluster], "/device_authorization", tv, url.Values{"scope": {"read"}})
		if err != nil || begun.status != http.StatusOK {
			t.Fatal("a device:", begun, err)
		}
		redeem := func(at *node) (answer, error) {
			return c.form(at, "/token", tv, url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {begun.field("device_code")}})
		}
		if a, err := redeem(c.nodes[(i+1)%nodesOfCluster]); err != nil || a.field("error") != "authorization_pending" {
			t.Error("before anybody confirmed:", a, err)
		}
		phone := c.phone(t, c.nodes[(i+1)%nodesOfCluster], fmt.Sprintf("127.15.%d.1", i))
		p := phone.Submit(phone.Get(begun.field("verification_uri_complete")), url.Values{"user_code": {begun.field("user_code")}})
		p = phone.Get(p.URL.ResolveReference(p.Location(t)).String())
		if p = phone.Submit(p, url.Values{"decision": {"confirm"}}); !strings.Contains(p.Body, "<h1>Confirmed</h1>") {
			t.Fatalf("not confirmed: %d %.600s", p.Status, p.Body)
		}
		answers, errs := make([]answer, parallel), make([]error, parallel)
		atOnce(parallel, func(i int) { answers[i], errs[i] = redeem(c.nodes[i%nodesOfCluster]) })
		var won []answer
		for i, a := range answers {
			switch {
			case errs[i] != nil:
				t.Fatal(errs[i])
			case a.status == http.StatusOK:
				won = append(won, a)
			case !a.refusedGrant():
				t.Error("a loser got", a)
			}
		}
		if len(won) != 1 {
			t.Fatalf("%d of %d redemptions of code %d succeeded", len(won), parallel, i)
		}
		for _, n := range c.nodes {
			c.dies(t, n, won[0].field("access_token"))
		}
	}
	t.Logf("%d device codes x %d parallel redemptions over %d nodes: one success each", codes, parallel, nodesOfCluster)
}

// diesOfVariantB waits until a node refuses what was issued: within a second.
func (c *cluster) diesOfVariantB(t *testing.T, at *node, issued answer) {
	t.Helper()
	target := "/sns/auth?access_token=" + issued.field("access_token") + "&openid=" + issued.field("openid")
	for deadline := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		a, err := c.get(at, target)
		if err == nil && a.status == http.StatusUnauthorized && a.errcode() == 40001 {
			return
		}
		if err != nil || a.status != http.StatusOK || time.Now().After(deadline) {
			t.Errorf("/sns/auth still says %v, %v", a, err)
			return
		}
	}
}
