package charset

import (
	"encoding/json"
	"testing"
)

func TestEscapedJSONIsEquivalentASCII(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"b\n"}`:  `{"a":"b\n"}`,
		`"Zoë 学"`:      `"Zo\u00eb \u5b66"`,
		`"😀"`:          `"\ud83d\ude00"`,
		"\"\u007f\x80": "\"\u007f\\ufffd",
	} {
		if got := EscapeJSON(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	var a, b string
	if err := json.Unmarshal([]byte(`"学😀"`), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(EscapeJSON(`"学😀"`)), &b); err != nil || a != b {
		t.Errorf("%q %q %v", a, b, err)
	}
}
