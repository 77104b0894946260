package restapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// R11: APIs repeat the address that they were asked at in more than redirects. What is in a field
// of any answer leads to the client's address, without what the gateway has added.
func TestNoAnswerAddressHasASecret(t *testing.T) {
	u := newRecorded(t, says("application/json", `{"id":1}`))
	r := startFixed(t, u.Addr)
	for _, c := range []struct {
		name   string
		status int
		fields []string
	}{
		{"R11 a link", 200, []string{"Link"}},
		{"R11 a created resource", 201, []string{"Location", "Content-Location", "Link"}},
		{"R11 a part", 206, []string{"Content-Location", "Link"}},
		{"R11 nothing new", 304, []string{"Location", "Content-Location"}},
		{"R11 an error", 409, []string{"Location", "Content-Location", "Link"}},
		{"R11 a fault", 500, []string{"Location", "Link"}},
	} {
		for _, path := range []string{"/plain/1", "/plain"} {
			u.Answer(func(w http.ResponseWriter, q *http.Request) {
				for _, field := range c.fields {
					at := q.RequestURI
					if field == "Link" {
						at = "<" + strings.ReplaceAll(at, "%3D", "%3d") + `>; rel="self"`
					}
					w.Header().Set(field, at)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				if c.status != http.StatusNotModified {
					_, _ = fmt.Fprint(w, `{"id":1}`)
				}
			})
			p := r.do("reader", http.MethodGet, path, "")
			if text := fmt.Sprint(p.Header, p.Body); p.Status != c.status || strings.Contains(text, "s3cr3t") {
				t.Errorf("%s: %d %s", c.name, p.Status, text)
			}
			for _, field := range c.fields {
				if at := p.Header.Get(field); field != "Link" && at != "" && at != path {
					t.Errorf("%s: %s: %s", c.name, field, at)
				}
			}
		}
	}
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Trailer", "Location")
		_, _ = fmt.Fprint(w, `{"id":1}`)
		w.Header().Set("Location", q.RequestURI)
	})
	for _, path := range []string{"/plain/1", "/plain"} {
		req, err := http.NewRequest(http.MethodGet, r.API+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+r.token("reader"))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != 200 || strings.Contains(fmt.Sprint(res.Header, res.Trailer), "s3cr3t") {
			t.Errorf("R11 a trailer: %d %v %v, %v", res.StatusCode, res.Header, res.Trailer, err)
		}
	}
}
