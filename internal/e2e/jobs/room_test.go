package jobs

import (
	"net/http"
	"strings"
	"testing"
)

// One client, or one of its users, does not fill the store with the results of jobs: then nobody could sign in any more.
func TestResultsOfJobsTakeABoundedRoom(t *testing.T) {
	r := prepare(t)
	r.writeUsers("")
	r.Start(t, users(body))
	r.signIn("alice", "bob")
	r.upstream.set(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`"` + strings.Repeat("x", 60_000) + `"`))
	})
	// kept reports whether the result of another job was.
	kept := func(who string) bool {
		p := r.do(who, http.MethodPost, "/import-jobs", "{}")
		read(t, p, 202)
		s := r.await(who, p.Header.Get("Location"))
		if s.State != "succeeded" || s.Omitted == (string(s.Result) != "null") {
			t.Fatalf("%.200s", s.Result)
		}
		return !s.Omitted
	}
	n := 0
	for kept("alice") {
		if n++; n > 100 {
			t.Fatal("100 results of 60 KB of one user are kept")
		}
	}
	if n < 60 {
		t.Errorf("%d results of one user are kept", n)
	}
	if !kept("bob") || !kept("one") {
		t.Error("the results of other callers are not kept")
	}
}
