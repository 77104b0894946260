package guard

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse/gatehouse/module/internal/token"
)

func identity(t testing.TB, h Headers) *Identity { return newIdentity(t, h, false) }

func newIdentity(t testing.TB, h Headers, forwardToken bool) *Identity {
	t.Helper()
	i, err := NewIdentity(h, forwardToken)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestClientsCannotSendOurHeadersInAnySpelling(t *testing.T) { // G30
	i := identity(t, Headers{Subject: "X-User-Id", Client: "x-app"})
	r := request("GET", "/health")
	names := []string{
		"X-User-Id", "x-user-id", "X_USER_ID", "x_user_id", "X_User-Id", "X-User.Id", "X.User_Id", "X.User.Id", "X-User~Id", "X+User!Id",
		"X-App", "x-app", "X_App", "X.APP", "X-Auth-Scopes", "X_Auth.Scopes", "x-auth_scopes",
		"X-HTTP-Method-Override", "X_HTTP_Method_Override", "X-HTTP-Method", "X-Method-Override", "X-Original-URL", "x-rewrite-url",
	}
	for _, name := range names {
		r.Header[name] = []string{"admin", "root"}
		r.Header[http.CanonicalHeaderKey(name)] = []string{"admin"}
	}
	kept := http.Header{
		"X-User-Ids": {"1"}, "Xuserid": {"1"}, "X-Userid": {"1"}, "X-Appl": {"1"}, "X-Auth-Subject": {"of the client's own"}, "Accept": {"*/*"}, "X-Forwarded-For": {"1"},
	}
	for name, v := range kept {
		r.Header[name] = v
	}
	i.Strip(r)
	if d := cmp.Diff(kept, r.Header); d != "" {
		t.Fatal(d)
	}
	i.Apply(r, access(nil, "a", "b"))
	kept["X-User-Id"], kept["X-App"], kept["X-Auth-Scopes"] = []string{"u1"}, []string{"reader"}, []string{"a b"}
	if d := cmp.Diff(kept, r.Header); d != "" {
		t.Fatal(d)
	}
}

func TestConnectionCannotNameOurHeaders(t *testing.T) { // G31
	i := identity(t, Headers{})
	for _, c := range []struct{ in, want []string }{
		{[]string{"keep-alive"}, []string{"keep-alive"}},
		{[]string{"Upgrade"}, []string{"Upgrade"}},
		{[]string{"X-Auth-Subject"}, nil},
		{[]string{"close, x-auth-subject ,\tx_auth_client"}, []string{"close"}},
		{[]string{"Upgrade, X-Other", "X-AUTH-SCOPES", "te"}, []string{"Upgrade, X-Other, te"}},
		{[]string{", ,X-Auth-Scopes, "}, nil},
		{nil, nil},
	} {
		r := request("GET", "/")
		if c.in != nil {
			r.Header["Connection"] = slices.Clone(c.in)
		}
		i.Strip(r)
		if d := cmp.Diff(c.want, r.Header["Connection"]); d != "" {
			t.Errorf("%q: %s", c.in, d)
		}
	}
}

func TestReceivedTrailersAreStripped(t *testing.T) {
	i := identity(t, Headers{})
	got := make(chan http.Header, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		i.Strip(r)
		_, _ = io.ReadAll(r.Body)
		got <- r.Trailer
	}))
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, u.Host)
	_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-Auth-Subject, X-Sum\r\nConnection: close\r\n\r\n"+
		"1\r\na\r\n0\r\nX-Auth-Subject: admin\r\nX_Auth_Client: admin\r\nX-Auth-Scopes: all\r\nX-Sum: 7\r\n\r\n")
	if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(http.Header{"X-Sum": {"7"}}, <-got); d != "" {
		t.Fatal(d)
	}
}

func TestCredentialsAreNotForwarded(t *testing.T) { // G33
	r := request("GET", "/", "Authorization", "Bearer read")
	identity(t, Headers{}).Strip(r)
	if r.Header["Authorization"] != nil {
		t.Error("the token goes upstream")
	}
	r = request("GET", "/", "Authorization", "Bearer read")
	newIdentity(t, Headers{}, true).Strip(r)
	if r.Header.Get("Authorization") != "Bearer read" {
		t.Error("forward_token has no effect")
	}
	for _, c := range []struct{ in, want []string }{
		{[]string{"a=1; b=2"}, []string{"a=1; b=2"}},
		{[]string{"gatehouse=s"}, nil},
		{[]string{"__Host-gatehouse=s"}, nil},
		{[]string{"a=1; __Host-gatehouse=s; b=\"x y\";c"}, []string{"a=1; b=\"x y\";c"}},
		{[]string{"gatehouse=s;  a=1 ;b=2"}, []string{"a=1 ;b=2"}},
		{[]string{"a=1;gatehouse-lang=en;__Host-gatehouse-login=x"}, []string{"a=1"}},
		{[]string{" gatehouse =s; a=1"}, []string{"a=1"}},
		{[]string{"gatehouse"}, nil},
		{[]string{"mygatehouse=1; gatehouses=2; Gatehouse=3; a=gatehouse"}, []string{"mygatehouse=1; gatehouses=2; Gatehouse=3; a=gatehouse"}},
		{[]string{"x=1", "gatehouse=s", "y=2; gatehouse=s"}, []string{"x=1", "y=2"}},
		{nil, nil},
	} {
		r := request("GET", "/")
		if c.in != nil {
			r.Header["Cookie"] = slices.Clone(c.in)
		}
		identity(t, Headers{}).Strip(r)
		if d := cmp.Diff(c.want, r.Header["Cookie"]); d != "" {
			t.Errorf("%q: %s", c.in, d)
		}
	}
}

func TestAnySubjectIsOneHeader(t *testing.T) { // G32
	i := identity(t, Headers{})
	for subject, want := range map[string]string{
		"u1": "u1", "a@b@c": "a@b@c", "a\r\nX-Admin: 1": "a%0D%0AX-Admin:%201", "李雷": "%E6%9D%8E%E9%9B%B7", "100%": "100%25", "a b": "a%20b",
		"\x00\x7f\xff": "%00%7F%FF", "{env.SECRET}": "{env.SECRET}", "": "",
	} {
		r := request("GET", "/")
		i.Apply(r, access(func(a *token.Access) { a.Subject, a.Client = subject, subject }, subject, "s"))
		if got := r.Header["X-Auth-Subject"]; len(got) != 1 || got[0] != want || r.Header.Get("X-Auth-Client") != want {
			t.Errorf("%q: %q", subject, got)
		}
		if back, err := url.PathUnescape(want); err != nil || back != subject {
			t.Errorf("%q decodes to %q, %v", want, back, err)
		}
		if got := r.Header.Get("X-Auth-Scopes"); got != want+" s" {
			t.Errorf("scopes %q", got)
		}
	}
}

func TestClientCredentialsTokenHasNoSubjectHeader(t *testing.T) {
	i := identity(t, Headers{})
	r := request("GET", "/")
	i.Apply(r, access(func(a *token.Access) { a.Subject, a.Client = token.ClientSubject+"nightly", "nightly" }, "s"))
	if _, has := r.Header["X-Auth-Subject"]; has || r.Header.Get("X-Auth-Client") != "nightly" {
		t.Error(r.Header)
	}
	i.Apply(r, nil)
}

func TestApplyDoesNotModifySharedScopes(t *testing.T) {
	scopes := []string{"ä", "b"}
	identity(t, Headers{}).Apply(request("GET", "/"), access(nil, scopes...))
	if scopes[0] != "ä" {
		t.Fatal(scopes)
	}
}

func TestUnusableHeaderNamesAreRefused(t *testing.T) {
	for _, name := range []string{
		"Host", "authorization", "Cookie", "Content_Length", "Connection", "X-Forwarded-For", "X-HTTP-Method-Override", "x user", "x:y", "X_User", "-x", "é",
		"X-Auth-Client",
	} {
		if _, err := NewIdentity(Headers{Subject: name}, false); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) && name != "X-Auth-Client" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
