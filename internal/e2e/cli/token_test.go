package cli

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

type inspected struct {
	Genuine bool
	Refusal string
	Token   *struct {
		Client  string `json:"client_id"`
		Issuer  string `json:"iss"`
		Aud     []string
		Scopes  []string
		Expires string `json:"expires_at"`
	}
	Guards []struct {
		Site, Audience, Refusal, Otherwise string
		Rules                              []struct {
			Words  string
			Passes bool
		}
	}
}

// S08: an operator who has a token that is refused can ask why.
func TestTokenInspectExplainsARefusal(t *testing.T) {
	g := startSite(t, strings.Replace(site, "http://$API {", `http://localhost:1 {
	oauth_guard {
		audience https://other.example
	}
	respond "other"
}
http://$API {`, 1))
	_, token := clientToken(t, g, machine) // scope read
	ask := func(in string) inspected {
		t.Helper()
		r := command(t, g, in, "token", "inspect", "--format", "json")
		if r.code != 0 || strings.Contains(r.out+r.err, token) {
			t.Fatalf("%+v", r)
		}
		var got inspected
		if err := json.Unmarshal([]byte(r.out), &got); err != nil {
			t.Fatalf("%v: %s", err, r.out)
		}
		return got
	}
	for _, in := range []string{token, token + "\n", "Bearer " + token + "\r\n"} {
		got := ask(in)
		if !got.Genuine || got.Refusal != "" || got.Token == nil || got.Token.Client != "machine" || got.Token.Issuer != g.ID || len(got.Guards) != 2 {
			t.Fatalf("%+v", got)
		}
		for _, v := range got.Guards {
			switch v.Audience {
			case "https://other.example":
				if v.Refusal != "wrong_audience" || v.Otherwise != "token" {
					t.Errorf("%+v", v)
				}
			case "https://api.example":
				if v.Refusal != "" || len(v.Rules) != 3 || !v.Rules[0].Passes || !v.Rules[1].Passes || v.Rules[2].Passes || !strings.HasPrefix(v.Site, "localhost on ") {
					t.Errorf("%+v", v)
				}
			default:
				t.Errorf("%+v", v)
			}
		}
	}
	t.Run("S08 in words", func(t *testing.T) {
		out := done(t, g, token, "token", "inspect")
		for _, want := range []string{"machine", "refused, wrong_audience", "accepts the token", "403, the token lacks a scope: scope write"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is missing in\n%s", want, out)
			}
		}
		// In the second in which it was issued the whole hour is left.
		if !regexp.MustCompile(`(?m)^Expires: +\S+, in (59m\S+|1h0m0s)$`).MatchString(out) || strings.Contains(out, "in 0s") {
			t.Error(out)
		}
	})
	t.Run("S08 what is refused", func(t *testing.T) {
		for in, want := range map[string]string{
			"opaque-token":            "malformed",
			token[:len(token)-2]:      "bad_signature",
			token[:len(token)-1]:      "malformed",
			strings.Repeat("a", 9000): "malformed",
			"eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjEifQ.eyJpc3MiOiJodHRwczovL3gifQ.AAAA":      "wrong_type",
			"eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6IjEifQ.eyJpc3MiOiJodHRwczovL3gifQ.AAAA":  "unknown_key",
			"eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6IjEifQ.eyJzdWIiOiJcdTAwMWJbMzFtIn0.AAAA": "unknown_key",
		} {
			got := ask(in)
			if got.Genuine || got.Refusal != want || len(got.Guards) != 2 || got.Guards[0].Refusal != want || got.Guards[1].Rules == nil {
				t.Errorf("%.40s: %+v", in, got)
			}
		}
	})
	t.Run("S08 a revoked one", func(t *testing.T) {
		status, dead := clientToken(t, g, machine)
		if status != 200 {
			t.Fatal(status)
		}
		r, err := http.NewRequest(http.MethodPost, g.ID+"/revoke", strings.NewReader(url.Values{"token": {dead}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetBasicAuth(machine.ID, machine.Secret)
		if p := harness.Do(t, http.DefaultClient, r); p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		if got := ask(dead); !got.Genuine || got.Refusal != "revoked" || got.Token.Client != "machine" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S08 not as an argument, not nothing, not a book", func(t *testing.T) {
		for _, r := range []result{
			command(t, g, "", "token", "inspect", token), command(t, g, "", "token", "inspect"), command(t, g, token+" "+token, "token", "inspect"),
			command(t, g, strings.Repeat("a", 17<<10), "token", "inspect"),
		} {
			if r.code != 1 || strings.Contains(r.out+r.err, token) {
				t.Errorf("%+v", r)
			}
		}
	})
}
