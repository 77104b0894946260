package store

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var unstamped = cmpopts.IgnoreUnexported(Code{}, Grant{}, Session{}, Consent{}, Revocation{}, Pair{})

// repack encodes and decodes.
func repack[V any, P recordOf[V]](t *rapid.T, v V) V {
	t.Helper()
	b, err := Encode(P(&v))
	if err != nil {
		t.Fatal(err)
	}
	var got V
	if err := Decode(b, P(&got)); err != nil {
		t.Fatal(err)
	}
	for n := range len(b) {
		if err := Decode(b[:n], P(new(V))); err == nil {
			t.Fatalf("%d of %d bytes are taken for a record", n, len(b))
		}
	}
	if err := Decode(append(b, "a field of a newer release"...), P(new(V))); err != nil {
		t.Fatalf("with a field behind the last one: %v", err)
	}
	if diff := cmp.Diff(v, got, unstamped); diff != "" {
		t.Fatal(diff)
	}
	return got
}

func anyText(t *rapid.T, name string) string {
	raw := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, name)
	switch rapid.IntRange(0, 5).Draw(t, "form of "+name) {
	case 0:
		return hex.EncodeToString(raw)
	case 1:
		return strings.ToUpper(hex.EncodeToString(raw))
	case 2:
		return base64.RawURLEncoding.EncodeToString(raw)
	case 3:
		return userPrefix + base64.RawURLEncoding.EncodeToString(raw)
	case 4:
		return base64.RawURLEncoding.EncodeToString(raw) + rapid.SampledFrom([]string{"=", "\n", "B", " "}).Draw(t, "end")
	}
	return string(raw)
}

func anyTexts(t *rapid.T, name string) (list []string) {
	for range rapid.IntRange(0, 3).Draw(t, "number of "+name) {
		list = append(list, anyText(t, name))
	}
	return list
}

func anyTime(t *rapid.T, name string) time.Time {
	ns := rapid.SampledFrom([]int64{0, 1, 5, 999_999_999}).Draw(t, "fraction of "+name)
	switch rapid.IntRange(0, 3).Draw(t, "kind of "+name) {
	case 0:
		return time.Time{}
	case 1:
		return time.Unix(rapid.Int64Range(-62_000_000_000, 253_402_300_799).Draw(t, name), ns).UTC()
	}
	return time.Unix(1_790_000_000+rapid.Int64Range(-100, 100).Draw(t, name), ns).UTC()
}

func TestPackedRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		repack(t, Grant{
			ID: anyText(t, "id"), Dialect: Dialect(anyText(t, "dialect")), Client: anyText(t, "client"), Subject: anyText(t, "subject"),
			Scopes: anyTexts(t, "scopes"), Resources: anyTexts(t, "resources"), Session: anyText(t, "session"), Code: anyText(t, "code"), Bound: anyText(t, "bound"),
			AuthTime: anyTime(t, "auth"), IssuedAt: anyTime(t, "issued"), Expires: anyTime(t, "expires"), RotatedAt: anyTime(t, "rotated"),
			RetryUntil: anyTime(t, "retry"), RevokedAt: anyTime(t, "revoked"),
			Generation: rapid.Uint64().Draw(t, "generation"), Epochs: Epochs{Subject: rapid.Int64().Draw(t, "epoch"), Pair: rapid.Int64().Draw(t, "pair")},
		})
		repack(t, Session{
			Subject: anyText(t, "subject"), AuthTime: anyTime(t, "auth"), LastSeen: anyTime(t, "seen"), Expires: anyTime(t, "expires"),
			UserAgent: anyText(t, "agent"), Address: anyText(t, "address"), Epoch: rapid.Int64().Draw(t, "epoch"),
		})
		c := Consent{
			Client: anyText(t, "client"), Subject: anyText(t, "subject"), Scopes: anyTexts(t, "scopes"),
			GivenAt: anyTime(t, "given"), Pair: rapid.Int64().Draw(t, "pair"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "pages") {
			c.Pages = append(c.Pages, ConsentPage{Page: anyText(t, "page"), Scopes: anyTexts(t, "allowed")})
		}
		repack(t, c)
		v := Pair{
			Client: anyText(t, "client"), Subject: anyText(t, "subject"), Epoch: rapid.Int64().Draw(t, "epoch"),
			Listed: rapid.SampledFrom([]PairListing{ListsSome, ListsNew, ListsAll}).Draw(t, "listed"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "grants") {
			v.Grants = append(v.Grants, PairGrant{ID: anyText(t, "grant"), Epoch: rapid.Int64().Draw(t, "began"), Used: anyTime(t, "used"), Expires: anyTime(t, "end")})
		}
		repack(t, v)
	})
}

func TestPackedRecordsOfANewerReleaseAreRefused(t *testing.T) {
	for _, stored := range []string{"\x01", "\x03", "\x08abc"} {
		if err := Decode([]byte(stored), new(Grant)); err == nil || !strings.Contains(err.Error(), "packed schema") {
			t.Errorf("%q: %v", stored, err)
		}
	}
	if err := Decode([]byte("\x02"), new(Code)); err == nil {
		t.Error("a record that is never packed was unpacked")
	}
}

// What the release before wrote, which had no packed form.
func TestRecordsOfThePreviousReleaseAreRead(t *testing.T) {
	at := time.Date(2026, 11, 23, 10, 20, 30, 123456789, time.UTC)
	session := strings.Repeat("0f", 32)
	for stored, want := range map[string]stamped{
		`{"v":1,"id":"NdRgT6eHqfPUGHBiWEUK9w","dialect":"oauth","client":"web","sub":"u-ZK9nVQ3uS3pV1lK6sNcM3A","scopes":["read"],"auth_time":"2026-11-23T10:20:30.123456789Z","session":"` + session + `","iat":"2026-11-23T10:20:30.123456789Z","exp":"2026-12-23T10:20:30.123456789Z","gen":3,"rotated_at":"2026-11-23T11:20:30.123456789Z","epochs":{"sub":7,"pair":8},"code":"` + session + `"}`: &Grant{
			ID: "NdRgT6eHqfPUGHBiWEUK9w", Dialect: DialectOAuth, Client: "web", Subject: "u-ZK9nVQ3uS3pV1lK6sNcM3A", Scopes: []string{"read"},
			AuthTime: at, Session: session, IssuedAt: at, Expires: at.Add(30 * 24 * time.Hour), Generation: 3, RotatedAt: at.Add(time.Hour),
			Epochs: Epochs{Subject: 7, Pair: 8}, Code: session,
		},
		`{"v":1,"sub":"u1","auth_time":"2026-11-23T10:20:30.123456789Z","seen":"2026-11-23T11:20:30.123456789Z","exp":"2026-12-23T10:20:30.123456789Z","user_agent":"Mozilla/5.0","address":"192.0.2.7","epoch":7}`: &Session{
			Subject: "u1", AuthTime: at, LastSeen: at.Add(time.Hour), Expires: at.Add(30 * 24 * time.Hour), UserAgent: "Mozilla/5.0", Address: "192.0.2.7", Epoch: 7,
		},
		`{"v":1,"client":"web","sub":"u1","scopes":["read"],"at":"2026-11-23T10:20:30.123456789Z","pages":[{"page":"` + session + `","scopes":["read"]}],"pair":5}`: &Consent{
			Client: "web", Subject: "u1", Scopes: []string{"read"}, GivenAt: at, Pages: []ConsentPage{{Page: session, Scopes: []string{"read"}}}, Pair: 5,
		},
		`{"v":1,"client":"web","sub":"u1","epoch":7,"grants":[{"id":"NdRgT6eHqfPUGHBiWEUK9w","epoch":6,"used":"2026-11-23T10:20:30.123456789Z","exp":"2026-12-23T10:20:30.123456789Z"}]}`: &Pair{
			Client: "web", Subject: "u1", Epoch: 7, Grants: []PairGrant{{ID: "NdRgT6eHqfPUGHBiWEUK9w", Epoch: 6, Used: at, Expires: at.Add(30 * 24 * time.Hour)}},
		},
	} {
		var got stamped
		switch want.(type) {
		case *Grant:
			got = new(Grant)
		case *Session:
			got = new(Session)
		case *Consent:
			got = new(Consent)
		case *Pair:
			got = new(Pair)
		}
		if err := Decode([]byte(stored), got); err != nil {
			t.Errorf("%.30s: %v", stored, err)
		}
		if diff := cmp.Diff(want, got, unstamped); diff != "" {
			t.Errorf("%.30s: %s", stored, diff)
		}
		// And it comes back smaller.
		packed, err := Encode(got)
		if err != nil || len(packed)*2 > len(stored) {
			t.Errorf("%.30s: packed into %d bytes of %d, %v", stored, len(packed), len(stored), err)
		}
		if err := Decode(packed, got); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got, unstamped); diff != "" {
			t.Errorf("%.30s: %s", stored, diff)
		}
	}
}

// A million users have as many of each: what they take is part of the promise, see deploy/sizing.md.
func TestUserRecordsAreSmall(t *testing.T) {
	at := time.Date(2026, 11, 23, 10, 20, 30, 123456789, time.UTC)
	subject, id, sum := "u-ZK9nVQ3uS3pV1lK6sNcM3A", "NdRgT6eHqfPUGHBiWEUK9w", digest("x")
	agent := "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
	for name, c := range map[string]struct {
		v    stamped
		most int
	}{
		"grant": {&Grant{
			ID: id, Dialect: DialectOAuth, Client: "web", Subject: subject, Scopes: []string{"openid", "profile", "read"}, AuthTime: at.Add(-1234567 * time.Microsecond),
			Session: sum, IssuedAt: at, Expires: at.Add(30 * 24 * time.Hour), Generation: 3, RotatedAt: at.Add(98765432 * time.Millisecond),
			Epochs: Epochs{Subject: at.UnixMilli(), Pair: at.UnixMilli()}, Bound: (&Code{}).Binding(),
		}, 170},
		"session": {&Session{Subject: subject, AuthTime: at, LastSeen: at.Add(1234567 * time.Microsecond), Expires: at.Add(12 * time.Hour), UserAgent: agent, Address: "203.0.113.200", Epoch: at.UnixMilli()}, 70 + len(agent)},
		"consent": {&Consent{Client: "web", Subject: subject, Scopes: []string{"openid", "profile", "read"}, GivenAt: at, Pages: []ConsentPage{{Page: sum, Scopes: []string{"openid", "profile", "read"}}}, Pair: at.UnixMilli()}, 100},
	} {
		b, err := Encode(c.v)
		if err != nil || len(b) > c.most {
			t.Errorf("a %s takes %d bytes, want at most %d: %v", name, len(b), c.most, err)
		}
	}
}
