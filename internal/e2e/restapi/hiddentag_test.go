package restapi

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// staff is an API whose tags and digests are made of all of a resource, also of the PIN that clients do not get.
type staff struct {
	mu    sync.Mutex
	pin   int
	size  int
	heard []string
}

func staffBody(pin, size int) string {
	return fmt.Sprintf(`{"id":7,"pin":%d,"pad":"%s"}`, pin, strings.Repeat("x", size))
}

func staffTag(pin, size int) string {
	sum := md5.Sum([]byte(staffBody(pin, size)))
	return hex.EncodeToString(sum[:])
}

func (s *staff) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line, tag := r.Method, staffTag(s.pin, s.size)
	for _, name := range []string{"If-Match", "If-None-Match", "If-Unmodified-Since", "Range"} {
		if v := r.Header.Get(name); v != "" {
			line += " " + name + ": " + v
		}
	}
	s.heard = append(s.heard, line)
	h := w.Header()
	say := func() {
		h.Set("ETag", `"`+tag+`"`)
		for _, name := range []string{"Content-MD5", "Digest", "Content-Digest", "Repr-Digest"} {
			h.Set(name, "of="+tag)
		}
	}
	say()
	w.WriteHeader(http.StatusEarlyHints)
	clear(h)
	say()
	switch m, n := r.Header.Get("If-Match"), r.Header.Get("If-None-Match"); {
	case m != "" && m != "*" && m != `"`+tag+`"`:
		w.WriteHeader(http.StatusPreconditionFailed)
	case n == `"`+tag+`"`:
		w.WriteHeader(http.StatusNotModified)
	case r.Method == http.MethodGet:
		h.Set("Content-Type", "application/json")
		h.Set("Trailer", "Digest, X-Sum")
		_, _ = io.WriteString(w, staffBody(s.pin, s.size))
		_ = http.NewResponseController(w).Flush()
		h.Set("Digest", "of="+tag)
		h.Set(http.TrailerPrefix+"Content-Digest", "of="+tag)
	case r.Method == http.MethodPatch:
		w.WriteHeader(http.StatusConflict)
	default:
		s.pin++
		tag = staffTag(s.pin, s.size)
		say()
		w.WriteHeader(http.StatusNoContent)
	}
}

func (s *staff) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	heard := s.heard
	s.heard = nil
	return heard
}

// read sends a request and returns everything that the client sees of the answer besides its body.
func (r *rig) read(client, method, path string) string {
	r.t.Helper()
	req, err := http.NewRequest(method, r.API+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if client != "" {
		req.Header.Set("Authorization", "Bearer "+r.token(client))
	}
	var hints []string
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{Got1xxResponse: func(_ int, h textproto.MIMEHeader) error {
		hints = append(hints, fmt.Sprint(h))
		return nil
	}}))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.ReadAll(res.Body); err != nil {
		r.t.Fatal(err)
	}
	return fmt.Sprint(hints, res.Header, res.Trailer)
}

const hiding = `"upstream": $TO, "resources": [
	{"path": "staff", "etag": true, "drop": ["pin"]}, {"path": "untagged", "drop": ["pin"]}, {"path": "whole", "etag": true}
]`

func hidingSites(t *testing.T, run func(*testing.T, *rig, *staff, bool)) {
	t.Helper()
	t.Run("with the gateway's secret", func(t *testing.T) {
		s, u := &staff{pin: 4711}, harness.NewUpstream(t)
		u.Answer(s.ServeHTTP)
		run(t, start(t, u.Addr, hiding), s, true)
	})
	t.Run("without the global option", func(t *testing.T) {
		s, u := &staff{pin: 4711}, harness.NewUpstream(t)
		u.Answer(s.ServeHTTP)
		g := harness.Prepare(t)
		g.Start(t, "{\n"+harness.Quiet+"\n}\nhttp://$API {\n\tapi_rest {\n\t\tto "+u.Addr+"\n\t\tresource staff {\n\t\t\tdrop pin\n\t\t\tetag\n\t\t}\n\t\tresource untagged {\n\t\t\tdrop pin\n\t\t}\n\t}\n}\n")
		run(t, &rig{g, t, make(map[string]string)}, s, false)
	})
}

// A digest of what a client sees and a PIN is guessed at once, so none may reach it in any field.
func TestDigestsOfHiddenMembersReachNoClient(t *testing.T) {
	hidingSites(t, func(t *testing.T, r *rig, s *staff, secret bool) {
		client := map[bool]string{true: "writer"}[secret]
		for _, path := range []string{"/staff/7", "/untagged/7"} {
			for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "POST"} {
				seen := r.read(client, method, path)
				for pin := range s.pin + 2 {
					tag := staffTag(pin, 0)
					if strings.Contains(seen, tag) || strings.Contains(seen, base64.RawURLEncoding.EncodeToString([]byte(tag))) {
						t.Errorf("%s %s: the PIN %d is guessed from %s", method, path, pin, seen)
					}
				}
			}
		}
	})
}

// Nor may a client have the API compare its guesses.
func TestGuessedETagsReachNoAPI(t *testing.T) {
	hidingSites(t, func(t *testing.T, r *rig, s *staff, secret bool) {
		client := map[bool]string{true: "writer"}[secret]
		for _, path := range []string{"/staff/7", "/untagged/7"} {
			ours := r.do(client, "GET", path, "").Header.Get("Etag")
			_, plan, _ := strings.Cut(ours, ".")
			plan, _, _ = strings.Cut(strings.TrimSuffix(plan, `"`), ".")
			s.lines()
			for _, guess := range []string{`"` + staffTag(4711, 0) + `"`, `"u.` + plan + "." + base64.RawURLEncoding.EncodeToString([]byte(staffTag(4711, 0))) + `"`} {
				for _, field := range []string{"If-Match", "If-None-Match", "If-Range"} {
					for _, method := range []string{"GET", "HEAD"} {
						if p := r.do(client, method, path, "", field, guess, "Range", "bytes=0-9"); p.Status != 200 {
							t.Errorf("%s %s %s: %s: %d", method, path, field, guess, p.Status)
						}
					}
				}
				if p := r.do(client, "PUT", path, `{}`, "If-Match", guess); p.Status != 412 {
					t.Errorf("PUT %s If-Match: %s: %d", path, guess, p.Status)
				}
			}
			for _, line := range s.lines() {
				if line != "GET" {
					t.Errorf("%s: the API was asked %s", path, line)
				}
			}
		}
	})
}

// What conditions are for still works: the API is told of its own tag.
func TestHiddenETagsWorkInConditions(t *testing.T) {
	hidingSites(t, func(t *testing.T, r *rig, s *staff, secret bool) {
		client := map[bool]string{true: "writer"}[secret]
		tag := r.do(client, "GET", "/staff/7", "").Header.Get("Etag")
		if want := map[bool]string{true: `"s.`, false: `"b.`}[secret]; !strings.HasPrefix(tag, want) {
			t.Fatalf("%s, want %s", tag, want)
		}
		s.lines()
		theirs := `"` + staffTag(4711, 0) + `"`
		p := r.do(client, "GET", "/staff/7", "", "If-None-Match", tag)
		asked := map[bool]string{true: "GET If-None-Match: " + theirs, false: "GET"}[secret]
		if got := s.lines(); p.Status != 304 || p.Header.Get("Etag") != tag || len(got) != 1 || got[0] != asked {
			t.Errorf("%d %v, the API was asked %q", p.Status, p.Header, got)
		}
		p = r.do(client, "PUT", "/staff/7", `{}`, "If-Match", tag)
		if got := s.lines(); p.Status != 204 || len(got) != 2 || got[1] != "PUT If-Match: "+theirs {
			t.Errorf("%d, the API was asked %q", p.Status, got)
		}
		if !secret {
			return
		}
		// The PIN has changed. Without a secret, a client does not learn that.
		if p := r.do(client, "PUT", "/staff/7", `{}`, "If-Match", tag); p.Status != 412 {
			t.Errorf("an old tag: %d", p.Status)
		}
		if one, other := r.do(client, "GET", "/staff/7", ""), r.do(client, "GET", "/staff/8", ""); one.Body != other.Body || one.Header.Get("Etag") == other.Header.Get("Etag") {
			t.Errorf("two resources: %v, %v", one.Header, other.Header)
		}
		if p := r.do(client, "GET", "/whole/7", ""); !strings.HasPrefix(p.Header.Get("Etag"), `"u.`) {
			t.Errorf("nothing is hidden: %v", p.Header)
		}
	})
}

// A tag of the body is made of 256 KiB at most.
func TestLongAnswerHasAHiddenETagOnlyWithASecret(t *testing.T) {
	hidingSites(t, func(t *testing.T, r *rig, s *staff, secret bool) {
		client := map[bool]string{true: "writer"}[secret]
		s.size = 300 << 10
		p := r.do(client, "GET", "/staff/7", "")
		tag := p.Header.Get("Etag")
		if p.Status != 200 || strings.HasPrefix(tag, `"s.`) != secret || (tag == "") == secret {
			t.Fatalf("%d %v", p.Status, p.Header)
		}
		if !secret {
			tag = `"x"`
		}
		p = r.do(client, "PUT", "/staff/7", `{}`, "If-Match", tag)
		if want := map[bool]int{true: 204, false: 412}[secret]; p.Status != want || strings.Contains(p.Body, "If-Match cannot hold here") == secret {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	})
}
