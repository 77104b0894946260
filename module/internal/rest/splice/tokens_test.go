package splice

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"unicode/utf8"
)

// FuzzTokens compares the tokens of valid texts with those of encoding/json.
func FuzzTokens(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, `1`, ` -1.5e+3 `, `null`, `"a"`, `{"a" : [1 ,true,false,null,"x\"\\\u00e9\ud83d\ude00\ud800"], "":{"b":{}}}`, "[\n1\t,\r2 ]", `["]}",{"[":"{"}]`, `["\\","\\\""]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) || !utf8.Valid(text) {
			return
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		tokens := TokensOf(text)
		for {
			want, err := d.Token()
			got := tokens.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			same := false
			switch want := want.(type) {
			case json.Delim:
				same = string(got) == want.String()
			case string:
				same = len(got) > 1 && got[0] == '"' && string(Text(got)) == want
			case json.Number:
				same = string(got) == want.String()
			case bool:
				same = string(got) == map[bool]string{true: "true", false: "false"}[want]
			case nil:
				same = string(got) == "null"
			}
			if !same {
				t.Fatalf("%q: %q, want %v", text, got, want)
			}
		}
		if got := tokens.Next(); got != nil || tokens.Peek() != 0 {
			t.Fatalf("%q: %q follows", text, got)
		}
		tokens = TokensOf(text)
		if tokens.Skip(); tokens.Peek() != 0 {
			t.Fatalf("%q: skipped to %d", text, tokens.at)
		}
	})
}
