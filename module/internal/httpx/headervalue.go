package httpx

import "strings"

// The default names of the header fields that tell an API who is calling.
const (
	SubjectHeader = "X-Auth-Subject"
	ClientHeader  = "X-Auth-Client"
	ScopesHeader  = "X-Auth-Scopes"
)

// EncodeHeaderValue percent-encodes everything but visible ASCII, so that any text remains a single
// header value. It encodes "%" as well, so that decoding restores the original.
func EncodeHeaderValue(s string) string {
	clean := true
	for i := range len(s) {
		if c := s[i]; c <= 0x20 || c >= 0x7f || c == '%' {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	out := make([]byte, 0, len(s)+16)
	for i := range len(s) {
		if c := s[i]; c <= 0x20 || c >= 0x7f || c == '%' {
			out = append(out, '%', hexDigits[c>>4], hexDigits[c&15])
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}

// EncodeHeaderList encodes each text and joins them with spaces.
func EncodeHeaderList(texts []string) string {
	for n, s := range texts {
		if e := EncodeHeaderValue(s); e != s {
			encoded := append([]string(nil), texts...)
			for m := n; m < len(encoded); m++ {
				encoded[m] = EncodeHeaderValue(encoded[m])
			}
			texts = encoded
			break
		}
	}
	return strings.Join(texts, " ")
}

const hexDigits = "0123456789ABCDEF"
