package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

func TestWhatASignInKeeps(t *testing.T) { // R12
	config := &Config{Steps: []Step{
		{Method: "GET", Upstream: "/a?x=1", Keep: []Keep{{From: "json", Name: "/t/0/a~1b", In: supply.Query, As: "once", Next: true}, {From: "header", Name: "X-T", In: supply.Header, As: "X-T"}}},
		{Method: "POST", Upstream: "/b", Send: []Value{{"p", "{pw}"}}, Keep: []Keep{{From: "cookie", Name: "sid"}, {From: "cookie", Name: "xsrf", In: supply.Header, As: "X-Xsrf"}},
			Expect: []envelope.Condition{{Pointer: "/ok", Op: "==", Values: []string{"true"}}}},
	}}
	p, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	fill := func(s string) (string, error) { return strings.ReplaceAll(s, "{pw}", "secret"), nil }
	answer := Answer{Status: 200, Header: http.Header{"X-T": {"h"}, "Set-Cookie": {"sid=1; Path=/", "xsrf=2", "gone=3"}}, Body: []byte(`{"t":[{"a/b":7}],"ok":true}`)}
	var seen []string
	do := func(_ context.Context, r *http.Request) (Answer, error) {
		seen = append(seen, fmt.Sprint(r.Method, " ", r.URL, " ", r.Header["X-T"], r.Header["Cookie"], r.ContentLength))
		return answer, nil
	}
	s, err := p.SignIn(t.Context(), do, fill)
	if err != nil || s.Cookie != "sid=1; xsrf=2; gone=3" && s.Cookie != "sid=1" || len(s.Params) != 2 {
		t.Fatalf("%+v %v", s, err)
	}
	if want := "GET /a?x=1 [] [] 0; POST /b?once=7 [h] [sid=1; xsrf=2; gone=3] 8"; strings.Join(seen, "; ") != want {
		t.Errorf("%s, want %s", strings.Join(seen, "; "), want)
	}
	many := http.Header{}
	for i := range maxCookies + 1 {
		many.Add("Set-Cookie", fmt.Sprintf("c%d=x", i))
	}
	for name, c := range map[string]struct {
		answer  Answer
		err     error
		refused bool
	}{
		"a status":          {Answer{Status: 403}, nil, true},
		"a fault":           {Answer{Status: 503}, nil, false},
		"nothing to keep":   {Answer{Status: 200, Header: http.Header{"X-T": {"h"}}, Body: []byte(`{}`)}, nil, true},
		"no JSON":           {Answer{Status: 200, Header: http.Header{"X-T": {"h"}}, Body: []byte(`<p>`)}, nil, true},
		"too many cookies":  {Answer{Status: 200, Header: many}, nil, true},
		"too long a cookie": {Answer{Status: 200, Header: http.Header{"Set-Cookie": {"a=" + strings.Repeat("x", maxJar)}}}, nil, true},
		"no connection":     {Answer{}, errors.New("dial"), false},
	} {
		_, err := p.SignIn(t.Context(), func(context.Context, *http.Request) (Answer, error) { return c.answer, c.err }, fill)
		var e *Error
		if !errors.As(err, &e) || e.Refused != c.refused || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	answer.Body = []byte(`{"t":[{"a/b":7}],"ok":false}`)
	if _, err := p.SignIn(t.Context(), do, fill); err == nil || !strings.Contains(err.Error(), "step 2, POST /b: `expect /ok ==` does not hold") {
		t.Error(err)
	}
}

func TestWhenASessionIsOver(t *testing.T) { // R12
	p, err := New(&Config{Steps: []Step{{Method: "POST", Upstream: "/l", Keep: []Keep{{From: "cookie"}}}}, Again: []Again{
		{Status: []int{302, 401}}, {Condition: envelope.Condition{Pointer: "/error/code", Op: "==", Values: []string{"badtoken"}}}, {Condition: envelope.Condition{Pointer: "/user", Op: "missing"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if !p.OverByStatus(302) || p.OverByStatus(200) || !p.Reads() {
		t.Error("statuses")
	}
	for body, want := range map[string]bool{
		`{"error":{"code":"badtoken"},"user":1}`: true, `{"user":1}`: false, `{}`: true, `notice {"user":1}`: false, `<p>`: false, `{"user":`: false, ``: false,
	} {
		if p.OverByBody(http.Header{}, []byte(body), false) != want {
			t.Errorf("%s: not %t", body, want)
		}
	}
	if p.OverByBody(http.Header{}, []byte(`{"a":1,`), true) {
		t.Error("what comes later is not missing yet")
	}
}
