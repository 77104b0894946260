package splice

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote appends the text of a valid string, given without its quotes. What is no
// UTF-8 and lone surrogates become U+FFFD, as in encoding/json.
func unquote(dst, raw []byte) []byte {
	for len(raw) > 0 {
		n := plain(raw)
		part := raw[:n]
		for !utf8.Valid(part) {
			r, size := utf8.DecodeRune(part)
			dst = utf8.AppendRune(dst, r)
			part = part[size:]
		}
		dst = append(dst, part...)
		if n == len(raw) {
			break
		}
		raw = raw[n+1:] // the backslash
		switch c := raw[0]; c {
		case 'u':
			r := hex4(raw[1:5])
			raw = raw[5:]
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					low = hex4(raw[2:6])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					raw = raw[6:]
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		default: // " \ /
			dst = append(dst, c)
		}
		raw = raw[1:]
	}
	return dst
}

func hex4(digits []byte) (r rune) {
	for _, c := range digits {
		r = r<<4 | rune(hexValue[c])
	}
	return r
}

// quote is the shortest JSON string of a text.
func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // strings always encode
		panic("splice: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
