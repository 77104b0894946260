package authserver_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/oauth2"

	"github.com/gatehouse/gatehouse/module/internal/audit"
)

// wire takes a library's requests to the server, whose clock is then what the library's is.
type wire struct {
	g     *endRig
	began time.Time
	at    time.Time // the server's clock when it began
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.g.mu.Lock()
	w.g.tokenRig.at = w.at.Add(time.Since(w.began))
	w.g.mu.Unlock()
	answer := httptest.NewRecorder()
	w.g.server.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// golang.org/x/oauth2 as it is: told to wait, denied, too late, and patient.
func TestGoOAuth2LibraryUnderstandsDeviceAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		interval int64         // what the library believes, 0 for what it was told
		decide   string        // what ann says, "" for nothing
		after    time.Duration // and when
		code     string        // what the library hears in the end, "" for tokens
		slowed   bool          // whether it is told to slow down: by twelve times it polls once a minute
	}{
		"patient and confirmed": {decide: "confirm", after: 9 * time.Minute},
		"too fast at first":     {interval: 1, decide: "confirm", after: 5 * time.Minute, slowed: true},
		"denied":                {decide: "deny", after: time.Minute, code: "access_denied"},
		"too late":              {code: "expired_token"},
		"fast and too late":     {interval: 1, code: "expired_token", slowed: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newDeviceEndRig(t)
				ctx := context.WithValue(t.Context(), oauth2.HTTPClient, &http.Client{Transport: wire{g, time.Now(), g.now()}})
				config := &oauth2.Config{ClientID: "tv", Scopes: []string{"openid", "read"}, Endpoint: oauth2.Endpoint{
					DeviceAuthURL: tokenIssuer + "/device_authorization", TokenURL: tokenIssuer + "/token", AuthStyle: oauth2.AuthStyleInParams,
				}}
				verifier := oauth2.GenerateVerifier()
				device, err := config.DeviceAuth(ctx, oauth2.S256ChallengeOption(verifier))
				g.must(err)
				if c.interval > 0 {
					device.Interval = c.interval
				}
				if c.code == "expired_token" {
					device.Expiry = time.Time{} // else the library does not ask any more
				}
				if c.decide != "" {
					go func() {
						time.Sleep(c.after + time.Millisecond)
						g.decide(g.browser(), begun{DeviceCode: device.DeviceCode, UserCode: device.UserCode, Complete: device.VerificationURIComplete}, c.decide)
					}()
				}
				got, err := config.DeviceAccessToken(ctx, device, oauth2.VerifierOption(verifier))
				refused := new(oauth2.RetrieveError)
				switch {
				case c.code == "":
					if err != nil || got.RefreshToken == "" || got.Extra("id_token") == nil || got.Extra("scope") != "openid read" {
						t.Errorf("%+v, %v", got, err)
					}
				case !errors.As(err, &refused) || refused.ErrorCode != c.code || refused.Response.StatusCode != http.StatusBadRequest:
					t.Errorf("%v, want %s", err, c.code)
				}
				if n := strings.Count(strings.Join(g.metrics.all(), "\n"), deviceGrant+" slow_down"); n > 0 != c.slowed || n > 12 {
					t.Errorf("it was told to slow down %d times", n)
				}
				if n := len(g.trail.of(audit.CodeReuse)); n != 0 || slices.Contains(g.metrics.all(), deviceGrant+" invalid_grant") {
					t.Errorf("%d replays, %v", n, g.metrics.all())
				}
			})
		})
	}
}

// What a device is told of its user is what any other client is told.
func TestDeviceIDToken(t *testing.T) {
	g := newDeviceRig(t)
	d := g.device(params{"scope": "openid read", "nonce": "not of this grant"})
	b := g.browser()
	signedIn := g.now()
	asked := b.devicePage(d)
	g.pass(time.Minute)
	b.submit(asked, "decision", "confirm")
	o := &openIDRig{tokenRig: g}
	a := o.idToken(g.want(g.token(d.redeem()), 200, ""))
	claims := claimsOf(t, a.id)
	for name, value := range map[string]any{"iss": tokenIssuer, "sub": "u1", "aud": "tv", "azp": "tv", "auth_time": float64(signedIn.Unix()), "nonce": nil} {
		if claims[name] != value {
			t.Errorf("%s: %v, want %v", name, claims[name], value)
		}
	}
	if claims["sid"] == nil || claims["at_hash"] == nil {
		t.Errorf("%v", claims)
	}
	if a := g.want(g.token(refreshTV(a.answer)), 200, ""); !strings.Contains(a.body, `"id_token"`) {
		t.Errorf("%s", a.body)
	}
	plain := g.device(params{"scope": "read"})
	g.decide(b, plain, "confirm")
	if a := g.want(g.token(plain.redeem()), 200, ""); strings.Contains(a.body, "id_token") {
		t.Errorf("%s", a.body)
	}
}

// A device with a key of its own, as at /token.
func TestDeviceAuthenticatesWithAKey(t *testing.T) {
	g, pair := newKeyRig(t)
	begin := func(claims map[string]any) answer {
		return g.askDevice(asserting(pair.sign(claims)).with("grant_type", ""))
	}
	d := begunFrom(g, g.want(begin(g.claims("keyed")), 200, ""))
	g.decide(g.browser(), d, "confirm")
	g.want(begin(g.claims("keyed", "aud", "https://evil.example")), 401, "invalid_client")
	g.want(g.token(params{"grant_type": deviceGrant, "device_code": d.DeviceCode, "client_id": "keyed"}), 401, "invalid_client")
	g.want(g.token(asserting(pair.sign(g.claims("keyed"))).with("grant_type", deviceGrant).with("device_code", d.DeviceCode)), 200, "")
}
