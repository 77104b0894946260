package oauthhttp

import (
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/gatehouse/gatehouse/module/oauth"
)

func TestExactlyOneBearerTokenIsRead(t *testing.T) {
	for _, test := range []struct {
		headers []string
		want    string
		ok      bool
	}{
		{nil, "", true}, {[]string{"Basic abc"}, "", true}, {[]string{"bearer  abc "}, "abc", true},
		{[]string{"Bearer"}, "", false}, {[]string{"Bearer a b"}, "", false}, {[]string{`Bearer "a"`}, "", false},
		{[]string{"Bearer a", "Bearer a"}, "", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["Authorization"] = test.headers
		if got, err := BearerToken(r); got != test.want || (err == nil) != test.ok {
			t.Errorf("%q: %q, %v", test.headers, got, err)
		}
	}
}

func TestChallengeNamesTheErrorWithoutInternals(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{ErrNoToken, `Bearer realm="r"`},
		{oauth.E(oauth.InvalidToken, "a \"b\" é"), `Bearer realm="r", error="invalid_token", error_description="a b "`},
		{oauth.E(oauth.InsufficientScope, "x"), `Bearer realm="r", error="insufficient_scope", error_description="x", scope="s"`},
		{oauth.Unavailable(nil), ""}, {errors.New("fault"), ""},
	} {
		w := httptest.NewRecorder()
		if SetChallenge(w.Header(), test.err, "r", "s"); w.Header().Get("WWW-Authenticate") != test.want {
			t.Errorf("%v: %q", test.err, w.Header())
		}
	}
}
