package soak

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// cheapUsers has passwords that take a tenth of the usual time to hash: the short form
// takes many samples.
const cheapUsers = `{"users":[{"id":"u-1","username":"alice","password_hash":"` + harness.PasswordHash + `"},
{"id":"u-2","username":"mallory","locked":true,"password_hash":"` + harness.PasswordHash + `"}]}`

// How long an answer takes does not tell whether a user exists or is locked (E15).
func TestTheTimeOfAnAnswerDoesNotTellUsersApart(t *testing.T) {
	s := newSite(t)
	s.WriteFile(t, "users.json", cheapUsers)
	s.Run(t, strings.Replace(s.config(), "per_address 1000", "per_address 1000000000\n\t\t\tlogin_failures 1000000000", 1))
	b := harness.NewBrowser(t, s.ID)
	b.Client.Transport = s.plain.Transport
	action, values := harness.Form(t, b.Get(s.authorizeURL()))
	guess := func(name string) func() {
		return func() {
			page := b.Post(action, url.Values{"token": values["token"], "request": values["request"], "username": {name}, "password": {"wrong"}})
			if page.Status != http.StatusUnauthorized {
				t.Fatalf("%s: %d %.300s", name, page.Status, page.Body)
			}
		}
	}
	expectOneTime(t, times(300, 5000), map[string]func(){
		"wrong password": guess(username), "unknown user": guess("nobody"), "locked user": guess("mallory"),
	})
}

// Nor does it tell a name that is locked by failed sign-ins from one that is not, or whether
// anybody has it (E15, N08).
func TestTheTimeOfAnAnswerDoesNotTellWhoIsLocked(t *testing.T) {
	s := newSite(t)
	s.WriteFile(t, "users.json", cheapUsers)
	s.Run(t, strings.Replace(s.config(), "per_address 1000", "per_address 1000000000\n\t\t\tlogin_failures 1\n\t\t\tlockout 100h", 1))
	b := harness.NewBrowser(t, s.ID)
	b.Client.Transport = s.plain.Transport
	action, values := harness.Form(t, b.Get(s.authorizeURL()))
	guess := func(name, password string) {
		page := b.Post(action, url.Values{"token": values["token"], "request": values["request"], "username": {name}, "password": {password}})
		if page.Status != http.StatusUnauthorized {
			t.Fatalf("%s: %d %.300s", name, page.Status, page.Body)
		}
	}
	n := 0
	guess(username, "wrong")
	guess("nobody", "wrong")
	expectOneTime(t, times(300, 5000), map[string]func(){
		"locked user":                        func() { guess(username, "wrong") },
		"locked user and the right password": func() { guess(username, harness.Password) },
		"locked name of nobody":              func() { guess("nobody", "wrong") },
		"unknown user":                       func() { n++; guess(fmt.Sprint("nobody", n), "wrong") },
	})
}

// Nor does it tell whether a client exists, or how much of its secret is right.
func TestTheTimeOfAnAnswerDoesNotTellClientsApart(t *testing.T) {
	s := newSite(t)
	s.Run(t, s.config())
	const secret = clientSecret
	conns := new(addresses)
	ask := func(id, secret string) func() {
		return func() { conns.refused(t, s.ID, id, secret) }
	}
	expectOneTime(t, times(300, 5000), map[string]func(){
		"unknown client":      ask("wob", secret),
		"nothing right":       ask(clientID, strings.Repeat("x", len(secret))),
		"8 characters right":  ask(clientID, secret[:8]+strings.Repeat("x", len(secret)-8)),
		"31 characters right": ask(clientID, secret[:31]+strings.Repeat("x", len(secret)-31)),
	})
}

// addresses sends from another address of the loopback network every few requests: a
// client has ten failures a minute from one.
type addresses struct {
	n      int
	client *http.Client
}

func (a *addresses) refused(t *testing.T, issuer, id, secret string) {
	if a.n%8 == 0 {
		if a.client != nil {
			a.client.CloseIdleConnections()
		}
		from := net.IPv4(127, 1+byte(a.n/8>>14), byte(a.n/8>>7)&127, 1+byte(a.n/8)&127)
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
		a.client = &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
		a.warm(t, issuer)
	}
	a.n++
	r, err := http.NewRequest(http.MethodPost, strings.Replace(issuer, "localhost", "127.0.0.1", 1)+"/token", strings.NewReader("grant_type=client_credentials"))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = strings.TrimPrefix(issuer, "http://")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(id+":"+secret)))
	answer, err := send(a.client, r)
	if err != nil || answer.status != http.StatusUnauthorized {
		t.Fatal(answer, err)
	}
}

// warm opens the connection, so that no sample has that in it.
func (a *addresses) warm(t *testing.T, issuer string) {
	r, err := http.NewRequest(http.MethodGet, strings.Replace(issuer, "localhost", "127.0.0.1", 1)+"/.well-known/jwks.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = strings.TrimPrefix(issuer, "http://")
	if _, err := send(a.client, r); err != nil {
		t.Fatal(err)
	}
}

// expectOneTime samples each in turn, in an order that changes. Of two subjects the median
// of the differences of neighbouring samples counts, since the machine is slower at one
// time than at another: it may be 1 % of what they take, or 0.2 ms. What else the machine
// does can pull them apart now and then, a leak does so every time.
func expectOneTime(t *testing.T, samples int, subjects map[string]func()) {
	t.Helper()
	names := slices.Sorted(maps.Keys(subjects))
	const rounds = 3
	for round := 1; ; round++ {
		took := make(map[string][]float64) // milliseconds
		for n := range samples {
			for i := range names {
				name := names[(i+n)%len(names)]
				begun := time.Now()
				subjects[name]()
				took[name] = append(took[name], time.Since(begun).Seconds()*1000)
			}
		}
		usual := median(took[names[0]])
		apart, text := 0.0, ""
		for _, name := range names {
			differences := make([]float64, samples)
			for n, ms := range took[name] {
				differences[n] = ms - took[names[0]][n]
			}
			difference := median(differences)
			apart = max(apart, math.Abs(difference))
			text += fmt.Sprintf(" %s %.3f ms (%+.3f);", name, median(took[name]), difference)
		}
		t.Logf("round %d, %d samples each, medians, and of the differences:%s apart by %.3f ms (%.2f %%)", round, samples, text, apart, 100*apart/usual)
		if apart <= 0.2 || apart <= usual/100 {
			return
		}
		if round == rounds {
			t.Error("the time of an answer tells them apart")
			return
		}
	}
}
