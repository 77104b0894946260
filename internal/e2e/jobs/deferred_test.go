package jobs

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

const deferred = `job articles {
		upstream POST /slow?act=add
		when preferred
		per_client 3
	}
	resource articles {
		upstream GET /articles /list
		upstream POST /articles /quick?act=add as form
		item /made
		rename id=aid title=subject
		values state published=1 draft=0
		validate title required length 3..20
		idempotency
	}
	job notes {
		upstream POST /slow/notes
		when preferred
	}
	resource notes
	job parts {
		upstream POST /slow/parts
		when preferred
		result /all/0
	}
	resource parts {
		rename id=pid
	}
	job lines {
		upstream POST /slow/lines
		when preferred
		progress /percent
	}
	resource lines {
		item /made
		rename id=lid
	}
	job both {
		upstream POST /slow/both
	}
	resource both {
		rename id=bid
		validate title required
	}
	job plain {
		upstream POST /slow/plain
	}
	errors {
		fail_when /ok == false status 422
	}`

// What a client prefers says when it is answered, and nothing of what is asked.
func TestJobRequestIsValidatedLikeItsOperation(t *testing.T) {
	r := start(t, deferred)
	usual := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"made":{"aid":9007199254740993,"subject":"Tides","state":1},"all":[{"pid":1},{"pid":2}]}`)
	}
	r.upstream.set(usual)
	const tides = `{"title":"Tides","state":"published"}`
	post := func(path, body string, header ...string) (status int, answered, location string) {
		p := r.do("one", http.MethodPost, path, body, header...)
		return p.Status, p.Body, p.Header.Get("Location")
	}
	async := []string{"Prefer", "respond-async"}

	t.Run("what would be refused is refused before the 202", func(t *testing.T) {
		for name, c := range map[string]struct {
			path, body string
			header     []string
			status     int
			field      string
		}{
			"a constraint":               {"/articles", `{"title":"x"}`, nil, 400, `"title"`},
			"a member that is missing":   {"/articles", `{}`, nil, 400, `"title"`},
			"the API's name of a member": {"/articles", `{"title":"Tides","subject":"x"}`, nil, 400, `"subject"`},
			"a word that is none":        {"/articles", `{"title":"Tides","state":"1"}`, nil, 400, `"state"`},
			"a member twice":             {"/articles", `{"title":"Tides","title":"Tides"}`, nil, 400, `"title"`},
			"an array":                   {"/articles", `[]`, nil, 400, "null"},
			"half of it":                 {"/articles", `{"title":"Tides"`, nil, 400, "null"},
			"a parameter":                {"/articles?act=del", tides, nil, 400, `"act"`},
			"another type":               {"/articles", tides, []string{"Content-Type", "text/plain"}, 415, "null"},
		} {
			at, _, _ := post(c.path, c.body, c.header...)
			status, body, location := post(c.path, c.body, append(c.header, async...)...)
			if at != c.status || status != c.status || location != "" || !strings.Contains(body, `"field":`+c.field) {
				t.Errorf("%s: %d %s at once, %d as a job, want %d and %s", name, at, body, status, c.status, c.field)
			}
		}
		if status, body, location := post("/notes?b=1&a=1", `{}`, async...); status != 400 || location != "" || !strings.Contains(body, `"field":"a"`) {
			t.Errorf("a parameter that the job's address does not have: %d %s", status, body)
		}
		if n := len(r.upstream.arrivals()); n != 0 {
			t.Errorf("%d requests reached the API", n)
		}
		if status, body, _ := post("/plain?x=1", `{}`); status != 400 || !strings.Contains(body, `"field":"x"`) {
			t.Errorf("a parameter that nobody reads: %d %s", status, body)
		}
	})
	t.Run("the API gets the body that it would get", func(t *testing.T) {
		if status, body, _ := post("/articles", tides); status != 201 {
			t.Fatal(status, body)
		}
		_, _, at := post("/articles", tides, async...)
		s := r.await("one", at, "succeeded")
		came := r.upstream.arrivals()
		now, later := came[0], came[1]
		if later.body != "subject=Tides&state=1" || later.body != now.body || later.header.Get("Content-Type") != now.header.Get("Content-Type") || later.header.Get("Prefer") != "" {
			t.Errorf("%q %v, at once %q %v", later.body, later.header, now.body, now.header)
		}
		if want := `{"id":9007199254740993,"title":"Tides","state":"published"}`; string(s.Result) != want {
			t.Errorf("%s, want %s", s.Result, want)
		}
	})
	t.Run("a failure names the client's members", func(t *testing.T) {
		defer r.upstream.set(usual)
		r.upstream.set(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"ok":false,"error":{"message":"It is taken.","field":"subject"}}`)
		})
		_, _, at := post("/articles", tides, async...)
		if s := r.await("one", at, "failed"); s.Error == nil || s.Error.Code != "validation_failed" || s.Error.Field == nil || *s.Error.Field != "title" {
			t.Errorf("%+v", s.Error)
		}
	})
	t.Run("what is not read passes as it is", func(t *testing.T) {
		_, _, at := post("/notes", "a,b\n", "Prefer", "respond-async", "Content-Type", "text/csv", "Content-Encoding", "x-ours")
		r.await("one", at, "succeeded")
		came := r.upstream.arrivals()
		if last := came[len(came)-1]; last.body != "a,b\n" || last.header.Get("Content-Type") != "text/csv" || last.header.Get("Content-Encoding") != "x-ours" {
			t.Errorf("%+v", last)
		}
	})
	t.Run("the declared part of the answer has our names too", func(t *testing.T) {
		_, _, at := post("/parts", `{}`, async...)
		if s := r.await("one", at, "succeeded"); string(s.Result) != `{"id":1}` {
			t.Errorf("%s", s.Result)
		}
	})
	t.Run("and so has the last of several lines", func(t *testing.T) {
		r.upstream.set(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			_, _ = io.WriteString(w, "{\"percent\":50}\n{\"made\":{\"lid\":7}}\n")
		})
		defer r.upstream.set(usual)
		_, _, at := post("/lines", `{}`, async...)
		if s := r.await("one", at, "succeeded"); string(s.Result) != `{"id":7}` {
			t.Errorf("%s", s.Result)
		}
	})
	t.Run("a job that every POST makes is no operation of the resource", func(t *testing.T) {
		_, _, at := post("/both", `{"id":1}`)
		s := r.await("one", at, "succeeded")
		came := r.upstream.arrivals()
		if last := came[len(came)-1]; last.body != `{"id":1}` || !strings.Contains(string(s.Result), `"made"`) {
			t.Errorf("%q %s", last.body, s.Result)
		}
	})
	t.Run("an Idempotency-Key makes one job", func(t *testing.T) {
		before := len(r.upstream.arrivals())
		key := []string{"Prefer", "respond-async", "Idempotency-Key", "k1"}
		status, body, at := post("/articles", tides, key...)
		r.await("one", at, "succeeded")
		again, repeated, where := post("/articles", tides, key...)
		if status != 202 || again != 202 || where != at || repeated != body {
			t.Errorf("%d %s %s, again %d %s %s", status, at, body, again, where, repeated)
		}
		if status, body, _ := post("/articles", `{"title":"Other"}`, key...); status != 422 {
			t.Errorf("%d %s", status, body)
		}
		if n := len(r.upstream.arrivals()) - before; n != 1 {
			t.Errorf("%d requests reached the API", n)
		}
	})
	t.Run("a key of what was refused for want of room can be used again", func(t *testing.T) {
		r.upstream.hold()
		defer r.upstream.release()
		var made []string
		for range 3 {
			_, _, at := post("/articles", tides, async...)
			made = append(made, at)
		}
		key := []string{"Prefer", "respond-async", "Idempotency-Key", "k2"}
		if status, body, _ := post("/articles", tides, key...); status != 429 {
			t.Errorf("%d %s", status, body)
		}
		r.upstream.release()
		for _, at := range made {
			r.await("one", at, "succeeded")
		}
		if status, body, _ := post("/articles", tides, key...); status != 202 {
			t.Errorf("%d %s", status, body)
		}
	})
}
