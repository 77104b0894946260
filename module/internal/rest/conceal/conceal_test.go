package conceal_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func TestOnlyTheTransportSeesConcealedValues(t *testing.T) {
	isSecret := func(text string) bool { return strings.Contains(text, "s3cret") }
	v := conceal.New(true, []string{"Set-Cookie"}, isSecret)
	r := httptest.NewRequest(http.MethodGet, "/a?page=2", nil)
	r.Header.Set("X-Api-Key", "the client's")
	params := []supply.Param{{In: supply.Header, Name: "X-Api-Key", Value: "s3cret"}, {In: supply.Query, Name: "token", Value: "s3cret"}}
	if err := v.Apply(r, params, "json"); err != nil {
		t.Fatal(err)
	}
	v.SetCookie(r, "sid=s3cret")
	proxied := v.Request(r)
	if len(proxied.Header) != 0 || proxied.URL.String() != "/a?page=2" {
		t.Errorf("the proxy sees %v %v", proxied.URL, proxied.Header)
	}
	answer, err := conceal.RoundTrip(transport(func(r *http.Request) (*http.Response, error) {
		if r.URL.RawQuery != "page=2&token=s3cret" || r.Header.Get("X-Api-Key") != "s3cret" || r.Header.Get("Cookie") != "sid=s3cret" {
			t.Errorf("the API is sent %v %v", r.URL, r.Header)
		}
		return &http.Response{Header: http.Header{"Set-Cookie": {"sid=1"}, "Location": {"/a?token=s3cret"}, "Etag": {`"1"`}}}, nil
	}), proxied)
	if err != nil || len(answer.Header) != 1 {
		t.Fatal("the proxy sees", answer.Header, err)
	}
	client := httptest.NewRecorder()
	for name, values := range answer.Header {
		client.Header()[name] = values
	}
	v.Writer(client).WriteHeader(http.StatusOK)
	if h := client.Header(); h.Get("Set-Cookie") != "sid=1" || h.Get("Location") == "" || h.Get("Etag") == "" {
		t.Error("the answer has", h)
	}
}

func TestNothingIsConcealedWithoutTheTransport(t *testing.T) {
	v := conceal.New(false, nil, nil)
	r := httptest.NewRequest(http.MethodGet, "/a", nil)
	v.SetCookie(r, "sid=1")
	if err := v.Apply(r, []supply.Param{{In: supply.Query, Name: "key", Value: "k"}}, "json"); err != nil || v != nil || v.Request(r) != r {
		t.Fatal(err, v)
	}
	if r.URL.RawQuery != "key=k" || r.Header.Get("Cookie") != "sid=1" {
		t.Errorf("%v %v", r.URL, r.Header)
	}
}
