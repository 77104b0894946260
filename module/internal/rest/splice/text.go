package splice

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote appends the text of a valid string, given without its quotes. As in encoding/json, invalid UTF-8 and lone
// surrogates become U+FFFD.
func unquote(dst, raw []byte) []byte {
	for len(raw) > 0 {
		n := plain(raw)
		part := raw[:n]
		if !utf8.Valid(part) {
			for len(part) > 0 {
				r, size := utf8.DecodeRune(part)
				dst = utf8.AppendRune(dst, r)
				part = part[size:]
			}
		}
		dst = append(dst, part...)
		if n == len(raw) {
			break
		}
		raw = raw[n+1:] // the backslash
		if raw[0] == 'u' {
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
		}
		dst = append(dst, unescaped[strings.IndexByte(escapes, raw[0])])
		raw = raw[1:]
	}
	return dst
}

func hex4(digits []byte) rune {
	r, _ := strconv.ParseUint(string(digits), 16, 32) // the scanner has checked them
	return rune(r)
}

// Quote returns the shortest JSON string of a text.
func Quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
