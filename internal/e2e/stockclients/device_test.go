package stockclients

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const deviceClient = `client tv {
			name "Living room"
			public
			grants device_code refresh_token
			scopes openid read
		}`

// answerDevice is a person with a phone, who opens the address that a device shows.
func answerDevice(t *testing.T, g *harness.Gateway, address, decision string) {
	t.Helper()
	b := harness.NewBrowser(t, g.ID)
	follow := func(p harness.Page) harness.Page {
		t.Helper()
		return b.Get(p.URL.ResolveReference(p.Location(t)).String())
	}
	p := follow(b.Submit(b.Get(address), url.Values{"username": {username}, "password": {password}}))
	if !strings.Contains(p.Body, `name="user_code"`) {
		t.Fatalf("no page for a code: %d %.500s", p.Status, p.Body)
	}
	p = follow(b.Submit(p, nil)) // the address has filled in the code
	if !strings.Contains(p.Body, "Living room") {
		t.Fatalf("the page does not say which device: %d %.500s", p.Status, p.Body)
	}
	if p = b.Submit(p, url.Values{"decision": {decision}}); p.Status != 200 {
		t.Fatalf("%s came to %d %.500s", decision, p.Status, p.Body)
	}
}

func deviceConfig(g *harness.Gateway) *oauth2.Config {
	return &oauth2.Config{ClientID: "tv", Scopes: []string{"openid", "read"}, Endpoint: oauth2.Endpoint{
		DeviceAuthURL: g.ID + "/device_authorization", TokenURL: g.ID + "/token", AuthStyle: oauth2.AuthStyleInParams,
	}}
}

func TestGoOAuth2DeviceSignsIn(t *testing.T) {
	g := begin(t, deviceClient)
	c := deviceConfig(g)
	verifier := oauth2.GenerateVerifier()
	device, err := c.DeviceAuth(t.Context(), oauth2.S256ChallengeOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if device.VerificationURI != g.ID+"/device" || device.Interval != 5 || time.Until(device.Expiry) < 9*time.Minute {
		t.Errorf("%+v", device)
	}
	type result struct {
		token *oauth2.Token
		err   error
	}
	device.Interval = 1 // so that it is told to slow down, which it understands
	polled := make(chan result, 1)
	go func() {
		token, err := c.DeviceAccessToken(t.Context(), device, oauth2.VerifierOption(verifier))
		polled <- result{token, err}
	}()
	time.Sleep(2500 * time.Millisecond) // two polls
	answerDevice(t, g, device.VerificationURIComplete, "confirm")
	got := <-polled
	if got.err != nil || got.token.RefreshToken == "" || got.token.Extra("id_token") == nil || got.token.Extra("scope") != "openid read" {
		t.Fatalf("%+v, %v", got.token, got.err)
	}
	got.token.Expiry = time.Now().Add(-time.Hour)
	again, err := c.TokenSource(t.Context(), got.token).Token()
	if err != nil || again.AccessToken == got.token.AccessToken {
		t.Errorf("refreshed: %v", err)
	}
	if n := g.Metric(t, `caddy_gatehouse_token_requests_total{grant="urn:ietf:params:oauth:grant-type:device_code",outcome="slow_down"}`); n < 1 {
		t.Errorf("it was slowed down %v times", n)
	}
}

func TestGoOAuth2DeviceIsDenied(t *testing.T) {
	g := begin(t, deviceClient)
	c := deviceConfig(g)
	device, err := c.DeviceAuth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	answerDevice(t, g, device.VerificationURIComplete, "deny")
	device.Interval = 1
	_, err = c.DeviceAccessToken(t.Context(), device)
	if refused, ok := err.(*oauth2.RetrieveError); !ok || refused.ErrorCode != "access_denied" {
		t.Errorf("%v", err)
	}
}
