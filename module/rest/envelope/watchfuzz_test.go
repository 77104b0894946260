package envelope

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"testing"
)

// FuzzWatch: whatever a success has for a body, and however it comes, it either passes
// byte for byte or becomes an error of the rule; and it becomes one when encoding/json
// says so.
func FuzzWatch(f *testing.F) {
	for _, media := range []string{"application/json", "text/html; charset=gbk", "text/plain", ""} {
		for _, body := range []string{refused, `{"success":true}`, "<b>{x}</b>\n" + refused, "\xef\xbb\xbf" + refused, "\x1f\x8b", "{\"m\":\"\xd4\x53\x5c\",\"success\":0}", `[` + refused + `]`, `{"success":{"success":false}}`, `x`} {
			f.Add(uint16(1), media, "", []byte(body))
			f.Add(uint16(7), media, "gzip", []byte(body))
		}
	}
	c := &Config{From: oldAPI().From, FailWhen: oldAPI().FailWhen[1:]}
	if err := c.Prepare(); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, size uint16, media, coding string, body []byte) {
		if len(body) > maxBody {
			return
		}
		answered := func(size int) *httptest.ResponseRecorder {
			rec := httptest.NewRecorder()
			w := NewWriter(rec, httptest.NewRequest("GET", "/", nil), c)
			w.Header().Set("Content-Type", media)
			if coding != "" {
				w.Header().Set("Content-Encoding", coding)
			}
			w.WriteHeader(200)
			for rest := body; len(rest) > 0; {
				part := rest[:min(size, len(rest))]
				rest = rest[len(part):]
				if n, err := w.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			w.Finish()
			return rec
		}
		var members map[string]json.RawMessage
		known := json.Unmarshal(body, &members) == nil && unique(body)
		for _, n := range []int{len(body) + 1, 1 + int(size)} {
			rec := answered(n)
			switch {
			case rec.Code == 200 && !bytes.Equal(rec.Body.Bytes(), body):
				t.Fatalf("%q becomes %q", body, rec.Body)
			case rec.Code != 200 && (rec.Code != 422 || !json.Valid(rec.Body.Bytes())):
				t.Fatal(rec.Code, rec.Body)
			}
			if !known || media != "application/json" || coding != "" {
				continue
			}
			s := string(members["success"])
			var text string
			_ = json.Unmarshal(members["success"], &text)
			if want := s == "false" || same(s, "0") || text == "false" || same(text, "0"); want != (rec.Code == 422) {
				t.Fatalf("%q in pieces of %d: %d", body, n, rec.Code)
			}
		}
	})
}

// unique reports whether no member of the object has the name of another: which of
// them counts is seen only when the answer is not decided before.
func unique(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return false
	}
	seen := map[any]bool{}
	for d.More() {
		name, err := d.Token()
		var skipped json.RawMessage
		if err != nil || d.Decode(&skipped) != nil || seen[name] {
			return false
		}
		seen[name] = true
	}
	_, err := d.Token()
	return err == nil || err == io.EOF
}
