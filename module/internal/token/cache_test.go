package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestCachedTokenIsRecheckedOnEachUse(t *testing.T) { // G21
	n := start(t, "ES256")
	raw := n.issue(t)
	ask := func() error {
		_, err := n.verifier.Verify(t.Context(), raw)
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	n.move(-2 * time.Minute)
	if err := ask(); !errors.Is(err, errEarly) {
		t.Errorf("issued in the future, as the clock says now: %v", err)
	}
	n.move(2 * time.Minute)
	if err := ask(); err != nil {
		t.Error(err)
	}
	n.move(time.Hour - time.Second)
	if err := ask(); err != nil {
		t.Error("in its last second:", err)
	}
	n.move(time.Second)
	if err := ask(); !errors.Is(err, ErrExpired) {
		t.Errorf("at its expiry: %v", err)
	}
	n.move(-30 * time.Minute)
	if err := ask(); !errors.Is(err, ErrExpired) {
		t.Errorf("seen expired, then the clock was set back: %v", err)
	}
}

func TestCacheReturnsTheSameContent(t *testing.T) { // G22
	n := start(t, "ES256")
	raw := n.issue(t)
	first, err := n.verifier.Verify(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	again, err := n.verifier.Verify(t.Context(), raw)
	if err != nil || first != again {
		t.Errorf("%v, %v", again, err)
	}
	if again.Issuer != issuerName || fmt.Sprint(again.Audience) != "[https://api.example.org]" ||
		again.Subject != "alice" || again.Client != "shop" || fmt.Sprint(again.Scopes) != "[read write]" ||
		again.Grant != "family" || len(again.ID) != 22 || again.KeyID != n.header(t)["kid"] ||
		!again.IssuedAt.Time().Equal(n.now()) || !again.Expires.Equal(n.now().Add(time.Hour)) {
		t.Errorf("content: %+v", again)
	}
}

func TestCachesAreLimited(t *testing.T) { // G25
	n := start(t, "EdDSA")
	v, err := NewVerifier(VerifierConfig{Ring: n.ring, Revocations: n.revocations, Now: n.now})
	if err != nil {
		t.Fatal(err)
	}
	v.ResizeCache(MinCache)
	good := n.issue(t)
	if _, err := v.Verify(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	most := int(v.cache.bad.GetMaximum())
	for i := range 2 * most {
		_, _ = v.Verify(t.Context(), fmt.Sprint("garbage", i))
	}
	v.cache.bad.CleanUp()
	if held := v.cache.bad.EstimatedSize(); held > most || most > maxBad {
		t.Errorf("%d refused tokens are held, at most %d may be", held, most)
	}
	if _, ok := v.cache.good.GetIfPresent(digest(good)); !ok {
		t.Error("forged tokens pushed out a good one")
	}
	before := v.CacheStats().Bytes
	large := with(n.claims(), "sub", strings.Repeat("s", 4<<10))
	if _, err := v.Verify(t.Context(), n.sign(t, nil, large)); err != nil {
		t.Fatal(err)
	}
	v.cache.good.CleanUp()
	if took := v.CacheStats().Bytes - before; took < 4<<10 {
		t.Errorf("a token of 4 KiB takes %d bytes", took)
	}
	v.ResizeCache(MinCache * 2)
	if s := v.CacheStats(); s.Tokens != 2 || s.Size != MinCache*2 {
		t.Errorf("after a change of the size: %+v", s)
	}
}

// Whoever brings more tokens than there is room for has them verified again, and takes no more memory.
func TestCacheSizeHoldsForAnyNumberOfTokens(t *testing.T) {
	n := start(t, "EdDSA")
	raw := n.issue(t)
	for _, times := range []int{1, 2, 10} {
		v, err := NewVerifier(VerifierConfig{Ring: n.ring, Revocations: n.revocations, Now: n.now})
		if err != nil {
			t.Fatal(err)
		}
		v.ResizeCache(MinCache)
		room := int(v.cache.good.GetMaximum() / entryBytes)
		for i := range times * room {
			id := fmt.Sprintf("%022d", i)
			v.cache.remember(digest(id), parsed{Access: Access{ID: id, Subject: id, Client: "shop", Scopes: []string{"read"}}})
		}
		v.cache.good.CleanUp()
		if s := v.CacheStats(); s.Bytes > s.Size || s.Tokens < room/2 {
			t.Errorf("%d x: %+v", times, s)
		}
		for range 2 {
			if _, err := v.Verify(t.Context(), raw); err != nil {
				t.Errorf("%d x: a good token is refused: %v", times, err)
			}
		}
	}
}

func TestOnlyPermanentRefusalsAreCached(t *testing.T) {
	n := start(t, "ES256")
	good := n.issue(t)
	remembered := func(raw string) bool {
		_, ok := n.verifier.cache.bad.GetIfPresent(digest(raw))
		return ok
	}
	unknown := encode(t, with(n.header(t), "kid", strings.Repeat("k", kidLength))) + good[strings.IndexByte(good, '.'):]
	forged := good[:strings.LastIndexByte(good, '.')+1] + jose.Base64.EncodeToString(make([]byte, 64))
	revoked := n.issue(t)
	a, err := n.verifier.Verify(t.Context(), revoked)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.revocations.Revoke(t.Context(), store.Revocation{Of: store.RevokeToken, Value: a.ID}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		raw  string
		want bool
	}{
		"garbage": {"garbage", true}, "bad signature": {forged, true}, "unknown key": {unknown, false},
		"expired": {n.sign(t, nil, with(n.claims(), "exp", n.now().Unix())), false},
		"early":   {n.sign(t, nil, with(n.claims(), "nbf", n.now().Unix()+100)), false},
		"revoked": {revoked, false}, "too long": {strings.Repeat("a", maxSize) + "aaa", false},
	} {
		if _, err := n.verifier.Verify(t.Context(), c.raw); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if c.raw = c.raw[:min(len(c.raw), maxSize)]; remembered(c.raw) != c.want {
			t.Errorf("%s: remembered is %v", name, !c.want)
		}
	}
}

func TestOversizedTokenIsNotIssued(t *testing.T) {
	n := start(t, "ES256")
	a := n.access()
	a.Subject = strings.Repeat("s", maxSize)
	if _, err := n.issuer.Issue(t.Context(), a); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("Issue = %v", err)
	}
}

func TestIncompleteAccessTokenIsNotIssued(t *testing.T) {
	n := start(t, "ES256")
	for name, spoil := range map[string]func(*Access){
		"subject":  func(a *Access) { a.Subject = "" },
		"client":   func(a *Access) { a.Client = "" },
		"audience": func(a *Access) { a.Audience = nil },
		"expiry":   func(a *Access) { a.Expires = time.Time{} },
		"life":     func(a *Access) { a.Expires = n.now() },
	} {
		a := n.access()
		spoil(&a)
		if _, err := n.issuer.Issue(t.Context(), a); err == nil {
			t.Errorf("without %s it was issued", name)
		}
	}
}

func TestIssuedTokensFollowRFC9068(t *testing.T) {
	n := start(t, "ES256")
	a := n.access()
	a.ID, a.Issuer, a.Audience, a.Grant, a.Scopes = "one", "https://evil.example.org", []string{"a", "b"}, "", nil
	raw, err := n.issuer.Issue(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := jose.Split(raw)
	var header, claims map[string]any
	for encoded, into := range map[string]*map[string]any{p.Header: &header, p.Payload: &claims} {
		if err := json.Unmarshal(must(jose.Base64.DecodeString(encoded)), into); err != nil {
			t.Fatal(err)
		}
	}
	now := float64(n.now().Unix())
	want := fmt.Sprint(map[string]any{
		"iss": issuerName, "sub": "alice", "aud": []any{"a", "b"}, "client_id": "shop", "jti": "one", "iat": now, "exp": now + 3600,
	})
	if fmt.Sprint(claims) != want || header["typ"] != "at+jwt" || header["alg"] != "ES256" || len(header) != 3 {
		t.Errorf("header %v, claims %v, want %v", header, claims, want)
	}
}

func TestVerificationIsSafeForConcurrentUse(t *testing.T) {
	n := start(t, "EdDSA")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				raw := n.issue(t)
				for range 5 {
					if _, err := n.verifier.Verify(t.Context(), raw); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}
