package userinfo

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAccessTokenComesFromOnePlace(t *testing.T) {
	for _, test := range []struct {
		method, target, header, body string
		want                         string
		ok                           bool
	}{
		{"GET", "/userinfo", "Bearer a", "", "a", true},
		{"POST", "/userinfo", "", "access_token=b", "b", true},
		{"POST", "/userinfo", "Bearer a", "access_token=a", "", false},
		{"GET", "/userinfo?access_token=a", "Bearer a", "", "", false},
		{"GET", "/userinfo?%61ccess_token=a", "Bearer a", "", "", false},
		{"GET", "/userinfo", "", "", "", false},
	} {
		r := httptest.NewRequest(test.method, test.target, strings.NewReader(test.body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if test.header != "" {
			r.Header.Set("Authorization", test.header)
		}
		if got, err := readAccessToken(r); got != test.want || (err == nil) != test.ok {
			t.Errorf("%+v: %q, %v", test, got, err)
		}
	}
}
