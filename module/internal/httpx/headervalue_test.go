package httpx

import (
	"net/url"
	"strings"
	"testing"
)

func TestHeaderValueIsOneLineAndDecodable(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"u-1":                  "u-1",
		"client:job":           "client:job",
		"ü":                    "%C3%BC",
		"a b":                  "a%20b",
		"100%":                 "100%25",
		"x\r\nX-Admin: 1":      "x%0D%0AX-Admin:%201",
		"\x00\x7f":             "%00%7F",
		strings.Repeat("é", 9): strings.Repeat("%C3%A9", 9),
	} {
		got := EncodeHeaderValue(text)
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if back, err := url.PathUnescape(got); err != nil || back != text {
			t.Errorf("%q decodes to %q, %v", got, back, err)
		}
	}
	if got := EncodeHeaderList([]string{"read", "50%", "ü"}); got != "read 50%25 %C3%BC" {
		t.Errorf("%q", got)
	}
}

func TestBlankParameterDiffersFromAbsentOne(t *testing.T) {
	f, err := ParseForm("token=x&scope=")
	if err != nil {
		t.Fatal(err)
	}
	if f.Blank("token") || !f.Blank("scope") || f.Blank("other") || f.Get("scope") != "" {
		t.Errorf("%v", f)
	}
}
