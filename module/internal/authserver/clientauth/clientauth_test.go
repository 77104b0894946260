package clientauth

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func noClient(context.Context, string) (*oauth.Client, bool, error) { return nil, false, nil }

// Somebody who tries random client_ids fills no more of the book than their address may,
// and clients elsewhere are counted as ever.
func TestRandomClientIDsShareOneCountPerAddress(t *testing.T) { // N06
	const failures = 10
	from := "192.0.2.1"
	now := time.Now()
	book := lockout.NewBook(failures*manyClients+10, func() time.Time { return now })
	a := &Authenticator{
		FindClient: noClient, Attempts: book, Failures: failures, ClientIP: func(*http.Request) string { return from },
		Store: storetest.NewMemory(nil), Audience: []string{"https://id.example"}, Now: func() time.Time { return now },
		Audit: audit.Discard{}, Unknown: func(context.Context, string) string { return "" },
	}
	try := func(id string) *oauth.Error {
		_, err := a.App(&http.Request{}, id, "wrong")
		var refusal *oauth.Error
		if !errors.As(err, &refusal) {
			t.Fatal(err)
		}
		return refusal
	}
	for range failures {
		try("guessed")
	}
	for i := range (manyClients - 1) * failures {
		if e := try("random" + strconv.Itoa(i)); e.Code != oauth.InvalidClient {
			t.Fatalf("number %d: %v", i, e)
		}
	}
	if e := try("guessed"); e.Code != oauth.SlowDown {
		t.Errorf("a client that had its failures has more by those of others: %v", e)
	}
	limited := 0
	for i := range 1000 {
		if try("more"+strconv.Itoa(i)).Code == oauth.SlowDown {
			limited++
		}
	}
	if limited != 1000-failures {
		t.Errorf("%d of 1000 are limited, want all but %d", limited, failures)
	}
	from = "198.51.100.1"
	for range failures {
		if e := try("elsewhere"); e.Code != oauth.InvalidClient {
			t.Fatalf("from another address: %v", e)
		}
	}
	from = "192.0.2.1"
	now = now.Add(time.Minute + time.Second)
	if e := try("later"); e.Code != oauth.InvalidClient {
		t.Errorf("a minute later: %v", e)
	}
}

func FuzzParseBasic(f *testing.F) {
	for _, s := range []string{"", "a:b", "a%20b:c+d", ":", "a", "%zz:b", "\xff:b", "a:\x00", "a:b:c"} {
		f.Add(base64.StdEncoding.EncodeToString([]byte(s)))
	}
	f.Add("not base64")
	f.Fuzz(func(t *testing.T, s string) {
		pairs, ok := parseBasic(s)
		if ok != (len(pairs) > 0) || len(pairs) > 2 {
			t.Fatalf("%q: %v %v", s, pairs, ok)
		}
		for _, p := range pairs {
			if p.id == "" || !utf8.ValidString(p.id+p.secret) || strings.Contains(p.id+p.secret, "\x00") {
				t.Fatalf("%q: %q", s, p)
			}
		}
	})
}

func FuzzEncodedBasicCredentialsRoundTrip(f *testing.F) {
	f.Add("a b%", "s+/=:")
	f.Fuzz(func(t *testing.T, id, secret string) {
		want := pair{id, secret}
		if !want.clean() || len(id)+len(secret) > 1000 {
			return
		}
		value := base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id) + ":" + url.QueryEscape(secret)))
		if pairs, ok := parseBasic(value); !ok || pairs[0] != want {
			t.Fatalf("%q %q: %q", id, secret, pairs)
		}
		if strings.Contains(id, ":") {
			return
		}
		value = base64.StdEncoding.EncodeToString([]byte(id + ":" + secret))
		if pairs, ok := parseBasic(value); !ok || pairs[len(pairs)-1] != want {
			t.Fatalf("raw %q %q: %q", id, secret, pairs)
		}
	})
}
