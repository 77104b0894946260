package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

func TestSignInKeepsConfiguredValues(t *testing.T) { // R12
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
		text    string
	}{
		"a status":          {Answer{Status: 403}, nil, true, "status 403"},
		"a fault":           {Answer{Status: 503}, nil, false, "status 503"},
		"nothing to keep":   {Answer{Status: 200, Header: http.Header{"X-T": {"h"}}, Body: []byte(`{}`)}, nil, true, ""},
		"no JSON":           {Answer{Status: 200, Header: http.Header{"X-T": {"h"}}, Body: []byte(`<p>`)}, nil, true, ""},
		"too many cookies":  {Answer{Status: 200, Header: many}, nil, true, "too many cookies"},
		"too long a cookie": {Answer{Status: 200, Header: http.Header{"Set-Cookie": {"a=" + strings.Repeat("x", maxJar)}}}, nil, true, "too many cookies"},
		"no connection":     {Answer{}, errors.New("dial"), false, "dial"},
	} {
		_, err := p.SignIn(t.Context(), func(context.Context, *http.Request) (Answer, error) { return c.answer, c.err }, fill)
		var e *Error
		if !errors.As(err, &e) || e.Refused != c.refused || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	answer.Body = []byte(`{"t":[{"a/b":7}],"ok":false}`)
	if _, err := p.SignIn(t.Context(), do, fill); err == nil || !strings.Contains(err.Error(), "step 2, POST /b: `expect /ok == true` does not hold") {
		t.Error(err)
	}
}

// JSON-RPC needs numbers, lists and objects; what a placeholder stands for remains a text in them.
func TestSignInSendsJSON(t *testing.T) { // R12
	p, err := New(&Config{Steps: []Step{{Method: "GET", Upstream: "/t", Keep: []Keep{{From: "json", Name: "/t", In: supply.Body, As: "token", Next: true}}},
		{Method: "POST", Upstream: "/rpc", As: "json", Send: []Value{
			{"jsonrpc", `"2.0"`}, {"method", "user.login"}, {"/params/username", "gateway"}, {"/params/password", "{pw}"}, {"list", `["{pw}",7]`}, {"id", "1"},
		}, Keep: []Keep{{From: "cookie"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	var sent []string
	do := func(_ context.Context, r *http.Request) (Answer, error) {
		body, err := io.ReadAll(r.Body)
		sent = append(sent, fmt.Sprint(r.Header["Content-Type"], string(body), int64(len(body)) == r.ContentLength))
		return Answer{Status: 200, Header: http.Header{}, Body: []byte(`{"t":"once"}`)}, err
	}
	if _, err := p.SignIn(t.Context(), do, func(s string) (string, error) { return strings.ReplaceAll(s, "{pw}", `p","x":"`), nil }); err != nil {
		t.Fatal(err)
	}
	want := `[application/json]{"token":"once","jsonrpc":"2.0","method":"user.login","params":{"username":"gateway","password":"p\",\"x\":\""},"list":["p\",\"x\":\"",7],"id":1}true`
	if len(sent) != 2 || sent[1] != want {
		t.Errorf("%q, want %s", sent, want)
	}
	_, err = p.SignIn(t.Context(), do, func(string) (string, error) { return "a\x00secret", nil })
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "the value of ") {
		t.Error(err)
	}
}

func TestSessionExpiryConditions(t *testing.T) { // R12
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

func TestSignInStepExpectations(t *testing.T) { // R12
	conflict := Answer{Status: 409, Header: http.Header{"X-Id": {"1"}, "Content-Type": {"text/html"}}, Body: []byte("<h1>409</h1>")}
	said := func(media, text string) Answer {
		return Answer{Status: 200, Header: http.Header{"X-Id": {"1"}, "Content-Type": {media}}, Body: []byte(text)}
	}
	ok := []envelope.Condition{{Pointer: "", Op: "==", Values: []string{"Ok."}}}
	for name, c := range map[string]struct {
		status []int
		expect []envelope.Condition
		answer Answer
		fault  string
	}{
		"a status below 400":     {nil, nil, said("text/plain", ""), ""},
		"any other":              {nil, nil, conflict, "status 409, expected one below 400"},
		"one that is named":      {[]int{200, 409}, nil, conflict, ""},
		"one that is not":        {[]int{409}, nil, said("text/plain", ""), "status 200, expected 409"},
		"a text":                 {nil, ok, said("text/plain; charset=UTF-8", "Ok.\n"), ""},
		"another text":           {nil, ok, said("text/plain", "Fails."), "`expect \"\" == Ok.` does not hold: the answer, status 200 and Content-Type \"text/plain\", has no JSON object"},
		"a page":                 {nil, ok, said("text/html", "Ok."), "does not hold"},
		"a member, and a text":   {nil, []envelope.Condition{{Pointer: "/ok", Op: "missing"}}, said("text/plain", "Ok."), "does not hold"},
		"a text that is cut off": {nil, ok, Answer{Status: 200, Header: http.Header{"X-Id": {"1"}, "Content-Type": {"text/plain"}}, Body: []byte("Ok."), Cut: true}, "does not hold"},
	} {
		p, err := New(&Config{Steps: []Step{{Method: "GET", Upstream: "/a", Status: c.status, Expect: c.expect, Keep: []Keep{{From: "header", Name: "X-Id", In: supply.Header, As: "X-Id"}}}}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.SignIn(t.Context(), func(context.Context, *http.Request) (Answer, error) { return c.answer, nil }, func(s string) (string, error) { return s, nil })
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %v, want %s", name, err, c.fault)
		}
	}
}

// APIs repeat cookies as they have read them: without quotes, and PHP without percent-encoding.
func TestCookiesAreSecretAsTheyAreReadToo(t *testing.T) { // R12
	p, err := New(&Config{Steps: []Step{{Method: "POST", Upstream: "/b", Keep: []Keep{{From: "cookie"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	answer := Answer{Status: 200, Header: http.Header{"Set-Cookie": {"sid=ann%7C17%2Bx", `key="a:b c"`, "odd=5%zz"}}}
	s, err := p.SignIn(t.Context(), func(context.Context, *http.Request) (Answer, error) { return answer, nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"ann%7C17%2Bx", "ann|17+x", "a:b c", "5%zz"} {
		if !slices.Contains(s.Secrets, secret) {
			t.Errorf("%s is none of %q", secret, s.Secrets)
		}
	}
}
