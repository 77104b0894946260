package httpx

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func TestFormParameterCountIsLimited(t *testing.T) {
	piece := func(n int) string { return strings.TrimSuffix(strings.Repeat("a=1&", n), "&") }
	if _, err := ParseForm(piece(maxParams), "a"); err != nil {
		t.Error(err)
	}
	if _, err := ParseForm(piece(maxParams+1), "a"); err == nil {
		t.Error("one more was accepted")
	}
}

func TestRepeatableParametersKeepTheirOrder(t *testing.T) {
	f, err := ParseForm("r=2&a=1&r=&r=1", "r")
	if err != nil || !slices.Equal(f.All("r"), []string{"2", "1"}) || f.Get("r") != "2" || f.Get("a") != "1" || f.Get("b") != "" {
		t.Errorf("%v %v", f, err)
	}
	f, err = ParseForm("r=&e=&b=2&a=1", "r")
	if err != nil || !slices.Equal(f.Names(), []string{"a", "b"}) || len(f.All("e")) != 0 {
		t.Errorf("one without a value is absent: %v %v", f.Names(), err)
	}
	if _, err := ParseForm("e=&e="); err == nil {
		t.Error("one without a value was taken twice")
	}
	if (Form{}).Get("a") != "" {
		t.Error("an empty form has a parameter")
	}
}

func TestUnreadableBodyIsNotAFormError(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/", iotest.ErrReader(errors.New("cut")))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	refusal := (*FormError)(nil)
	if _, err := ReadForm(r); err == nil || errors.As(err, &refusal) {
		t.Errorf("%v", err)
	}
	r.Header.Add("Content-Type", "application/x-www-form-urlencoded")
	if _, err := ReadForm(r); !errors.As(err, &refusal) || refusal.Status != http.StatusUnsupportedMediaType {
		t.Errorf("two types: %v", err)
	}
}

func FuzzParseForm(f *testing.F) {
	for _, s := range []string{"", "a=1&b=2", "a=1&a=2", "%zz", "a=%ff", "a=%00", "a;b", "=&=", "a=+%2B", "a==b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		form, err := ParseForm(s)
		if err != nil {
			if refusal := (*FormError)(nil); !errors.As(err, &refusal) || refusal.Status != http.StatusBadRequest {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		theirs, err := url.ParseQuery(s)
		if err != nil {
			t.Fatalf("%q is accepted, and the standard library says %v", s, err)
		}
		for name, values := range theirs {
			if len(values) != 1 || form.Get(name) != values[0] || !utf8.ValidString(name+values[0]) || strings.Contains(name+values[0], "\x00") {
				t.Fatalf("%q: %q is %q, the standard library has %q", s, name, form.Get(name), values)
			}
		}
	})
}
