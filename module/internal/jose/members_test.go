package jose

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzMembers compares the members with those that encoding/json finds.
func FuzzMembers(f *testing.F) {
	var many strings.Builder
	for i := range 40 {
		fmt.Fprintf(&many, `,"m%d":%d`, i, i)
	}
	for _, seed := range []string{
		`{}`, ` { } `, `null`, `[]`, `"{"`, `{"a":1}`, ` { "a" : "b" , "c" : [1,{"d":"]"}] , "e" : { "f" : "}\"" } } `,
		`{"a":1,"a":2,"A":3}`, `{"a":null,"b":true,"c":-1.5e3}`, `{"\u0061":1,"a\"b":"\ud800"}`, `{"a":"` + "\u2028" + `é\n"}`,
		`{"a":1,}`, `{"a"}`, `{"a":1}x`, `{"a":1e700}`, `{"a":"` + "\x00" + `"}`, `{"a":[[]],"b":[]}`, `{"a":1` + many.String() + `,"a":3}`, `{"":""}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !utf8.Valid(raw) {
			return
		}
		var want map[string]json.RawMessage
		wantOK := json.Unmarshal(raw, &want) == nil && want != nil
		c := DecodeClaims(Base64.EncodeToString(raw))
		if c.OK != wantOK {
			t.Fatalf("%s: OK is %t, want %t", raw, c.OK, wantOK)
		}
		if !wantOK {
			return
		}
		if c.Len() != len(want) {
			t.Errorf("%s: %d members, want %d", raw, c.Len(), len(want))
		}
		for name, value := range want {
			if got := c.Raw(name); string(got) != string(value) {
				t.Errorf("%s: %q is %s, want %s", raw, name, got, value)
			}
			wantText, isText := "", value[0] == '"'
			if isText && json.Unmarshal(value, &wantText) != nil {
				t.Fatalf("%s is no text", value)
			}
			if got, ok := decodeText(c.Raw(name)); ok != isText || got != wantText {
				t.Errorf("%s: %q is %q, %t, want %q, %t", raw, name, got, ok, wantText, isText)
			}
		}
	})
}

func TestMembersCanBeRestricted(t *testing.T) {
	c := DecodeClaims(Base64.EncodeToString([]byte(`{"alg":"ES256","kid":null,"alg":"RS256"}`)))
	for want, names := range map[bool][]string{true: {"typ", "alg", "kid"}, false: {"alg", "typ"}} {
		if got := c.Only(names...); got != want {
			t.Errorf("only %v: %t", names, got)
		}
	}
}
