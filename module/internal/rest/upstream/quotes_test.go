package upstream

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

func TestCallersValueCannotEndItsQuotes(t *testing.T) {
	const filter, bare = "owner eq '{http.auth.user.id}' and name eq 'o''b'", "{http.auth.user.id}"
	for _, c := range []struct {
		written, id string
		status      int // 0: accepted
	}{
		{filter, "alice", 0},
		{filter, `al"ice`, 0},
		{filter, "x' or owner ne '", http.StatusForbidden},
		{filter, `x\`, http.StatusForbidden},
		{`\{"owner":"{http.auth.user.id}"\}`, `x","a":"b`, http.StatusForbidden},
		{`\{"owner":"{http.auth.user.id}"\}`, "o'brien", 0},
		{`\{"label":"5\" pipe","owner":"{http.auth.user.id}"\}`, `x","a":"b`, http.StatusForbidden},
		{`title ne "it's" and owner eq '{http.auth.user.id}'`, "x' or '", http.StatusForbidden},
		{"id eq {http.auth.user.id} or owner eq '{http.auth.user.id}'", "x' or '", http.StatusForbidden},
		{bare, `o'bri"en\`, 0},
		{"it's {http.auth.user.id}", "o'brien", 0}, // no quote is closed
		{"name eq 'a' and id eq {http.auth.user.id}", "o'brien", 0},
	} {
		s := &supplier{API: &API{Config: &Config{Replace: func(_ *http.Request, text string, value func(name, value string) error) (string, error) {
			return strings.ReplaceAll(text, bare, c.id), value("http.auth.user.id", c.id)
		}}}, params: []supply.Param{{In: supply.Query, Name: "$filter", Value: c.written}}}
		params, err := s.resolve(httptest.NewRequest(http.MethodGet, "/", nil))
		var refused *envelope.Refusal
		switch {
		case c.status == 0 && (err != nil || params[0].Value != strings.ReplaceAll(c.written, bare, c.id)):
			t.Errorf("%s with %s: %v, %v", c.written, c.id, params, err)
		case c.status != 0 && (!errors.As(err, &refused) || refused.Status != c.status):
			t.Errorf("%s with %s: %v", c.written, c.id, err)
		}
	}
}

// Also a request's header field or host may be what the client wants, and only the operator decides what the environment has.
func TestQuotesAreEndedByOperatorsValuesAlone(t *testing.T) {
	for name, refused := range map[string]bool{
		"http.request.header.X-Tenant": true, "http.request.host.labels.1": true, "http.request.cookie.t": true, "http.vars.tenant": true, "http.regexp.1": true, "http.auth.user.id": true,
		"env.TENANT": false, "file./run/tenant": false, "system.hostname": false, "time.now": false,
	} {
		written, placeholder, value := "tenant eq '{"+name+"}'", "{"+name+"}", "x' or tenant ne '"
		s := &supplier{API: &API{Config: &Config{Replace: func(_ *http.Request, text string, seen func(name, value string) error) (string, error) {
			return strings.ReplaceAll(text, placeholder, value), seen(name, value)
		}}}, params: []supply.Param{{In: supply.Query, Name: "$filter", Value: written}}}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if got, err := s.fill(r, written); errors.Is(err, errEndsQuotes) != refused || !refused && got != "tenant eq '"+value+"'" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		var refusal *envelope.Refusal
		if _, err := s.resolve(r); refused && (!errors.As(err, &refusal) || refusal.Status != http.StatusForbidden) {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := s.fill(r, placeholder); err != nil || got != value {
			t.Errorf("%s without quotes: %q, %v", name, got, err)
		}
	}
}
