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
)

func TestQueryAndFormAreMerged(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	for name, c := range map[string]struct {
		method, query, body, kind string
		want                      string // every name with its values; "" for a refusal
		status                    int
	}{
		"all in the query":         {"GET", "a=1&b=2", "", "", "a=1&b=2", 0},
		"some here, some there":    {"POST", "a=1", "b=2", form, "a=1&b=2", 0},
		"a charset":                {"POST", "", "b=2", form + "; charset=utf-8", "b=2", 0},
		"a post without a body":    {"POST", "a=1", "", "", "a=1", 0},
		"an empty body of JSON":    {"POST", "a=1", "", "application/json", "a=1", 0},
		"nothing at all":           {"POST", "", "", form, "none", 0},
		"the same value twice":     {"POST", "a=1&a=1", "a=1", form, "a=1", 0},
		"without a value and with": {"POST", "a=", "a=1", form, "a=1", 0},
		"two values":               {"POST", "a=1", "a=2", form, "a=1&a=2", 0},
		"two values in one place":  {"GET", "a=1&a=2", "", "", "a=1&a=2", 0},
		"a body behind a GET":      {"GET", "a=1", "a=2", form, "a=1", 0},
		"a body of JSON":           {"POST", "a=1", `{"a":2}`, "application/json", "", 415},
		"a body without a type":    {"POST", "a=1", "b=2", "", "", 415},
		"too many in the query":    {"GET", strings.Repeat("a=1&", maxParams+1), "", "", "", 400},
		"too many in the body":     {"POST", "", strings.Repeat("a=1&", maxParams+1), form, "", 400},
		"no UTF-8 in the query":    {"GET", "a=%ff", "", "", "", 400},
		"NUL in the body":          {"POST", "", "a=%00", form, "", 400},
		"a semicolon":              {"GET", "a=1;b=2", "", "", "", 400},
		"too large a body":         {"POST", "", "a=" + strings.Repeat("1", 1000), form, "", 413},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "/?"+c.query, strings.NewReader(c.body))
			if c.kind != "" {
				r.Header.Set("Content-Type", c.kind)
			}
			r.Body = http.MaxBytesReader(nil, r.Body, 1000)
			f, err := ReadMerged(r)
			if refusal := (*FormError)(nil); c.want == "" {
				if !errors.As(err, &refusal) || refusal.Status != c.status {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := url.Values{}
			for _, name := range f.Names() {
				got[name] = f.All(name)
			}
			if text := got.Encode(); text != strings.TrimPrefix(c.want, "none") {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
	r := httptest.NewRequest(http.MethodPost, "/?a=1", iotest.ErrReader(errors.New("cut")))
	if _, err := ReadMerged(r); err == nil || errors.As(err, new(*FormError)) {
		t.Errorf("a body that cannot be read: %v", err)
	}
}

func FuzzReadMerged(f *testing.F) {
	f.Add("a=1&b=2", "a=2")
	f.Add("a=%zz", "")
	f.Fuzz(func(t *testing.T, query, body string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		form, err := ReadMerged(r)
		if err != nil {
			return
		}
		for _, name := range form.Names() {
			all := form.All(name)
			if slices.Contains(all, "") || len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all) {
				t.Fatalf("%q: %q", name, all)
			}
		}
	})
}
