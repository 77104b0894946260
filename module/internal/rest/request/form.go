package request

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// checkForm refuses a form that carries an access token (RFC 6750 section 2.2): the guard has
// checked the token in the header, and the API might use this one. A form that APIs would read
// in different ways is refused too.
func checkForm(h http.Header, body []byte) *envelope.Refusal {
	for _, label := range h["Content-Type"] {
		media := strings.ToLower(strings.TrimSpace(label))
		if end := strings.IndexAny(media, ";, \t"); end >= 0 { // where PHP ends the type
			media = media[:end]
		}
		switch media {
		case "application/x-www-form-urlencoded":
			if !asciiNames(label) {
				return unreadableForm()
			}
			if guard.CarriesToken(string(body)) {
				return envelope.TokenInForm()
			}
		case "multipart/form-data":
			if !asciiNames(label) {
				return unreadableForm()
			}
			if refused := checkParts(label, body); refused != nil {
				return refused
			}
		}
	}
	return nil
}

func unreadableForm() *envelope.Refusal {
	return envelope.Refuse(http.StatusBadRequest, "the form could not be read")
}

// asciiCharset names the encodings in which the letters of access_token are the bytes of
// ASCII, and nothing else is.
var asciiCharset = regexp.MustCompile(`^(utf-?8|us-ascii|ascii|latin1|iso-?8859-[0-9]+|(windows-|cp)125[0-8]|koi8-[ru]|gbk|gb2312|gb18030|big5|shift_jis|euc-(jp|kr|cn|tw))$`)

// asciiNames reports whether every reader of a form with this Content-Type decodes its names as
// ASCII. Servlet containers, ASP.NET and Django use the charset that the client names, and
// access_token has other bytes in EBCDIC, UTF-7 or UTF-16.
func asciiNames(label string) bool {
	switch strings.Count(strings.ToLower(label), "charset") {
	case 0:
		return true
	case 1:
		_, params, err := mime.ParseMediaType(label)
		return err == nil && asciiCharset.MatchString(strings.ToLower(params["charset"]))
	default:
		return false
	}
}

// checkParts refuses a multipart form that APIs would read in different ways. PHP, for example,
// uses the first "boundary" in the line whatever it belongs to, accepts a boundary after any line
// feed, reads on after the last one, and ignores the type of a Content-Disposition.
func checkParts(label string, body []byte) *envelope.Refusal {
	_, params, err := mime.ParseMediaType(label)
	boundary, lower := params["boundary"], strings.ToLower(label)
	if err != nil || !plainBoundary(boundary) || strings.Count(lower, "boundary") > 1 || !strings.Contains(lower, "boundary=") {
		return unreadableForm()
	}
	count := 0
	for parts := multipart.NewReader(bytes.NewReader(body), boundary); ; count++ {
		part, err := parts.NextRawPart()
		if err == io.EOF { //nolint:errorlint // a wrapped one is a form without an end
			break
		}
		if err != nil {
			return unreadableForm()
		}
		name, ok := partName(part.Header["Content-Disposition"])
		switch {
		case !ok:
			return unreadableForm()
		case guard.CarriesToken(url.QueryEscape(name)):
			return envelope.TokenInForm()
		}
	}
	if countDelimiters(body, boundary) != count+1 {
		return unreadableForm()
	}
	return nil
}

// plainBoundary reports whether a boundary consists of the characters of RFC 2046 section 5.1.1
// without the blank, so that it needs no escapes.
func plainBoundary(b string) bool {
	const other = "'()+_,-./:=?"
	return b != "" && len(b) <= 70 && !strings.ContainsFunc(b, func(c rune) bool {
		return !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.ContainsRune(other, c))
	})
}

// countDelimiters counts the lines that begin with the boundary, with any line ending.
func countDelimiters(body []byte, boundary string) (n int) {
	delimiter := []byte("--" + boundary)
	for at := 0; ; {
		i := bytes.Index(body[at:], delimiter)
		if i < 0 {
			return n
		}
		at += i
		if at == 0 || body[at-1] == '\n' || body[at-1] == '\r' {
			n++
		}
		at++
	}
}

// escapedName matches a backslash in a name, which Jetty and Rack omit: they read `to\ken` as `token`.
var escapedName = regexp.MustCompile(`(?i)[;\s]name\s*=\s*"[^"]*\\`)

// partName returns the name of a part if every API finds the same one in its Content-Disposition.
func partName(dispositions []string) (name string, ok bool) {
	if len(dispositions) != 1 || !plainQuotes(dispositions[0]) || escapedName.MatchString(dispositions[0]) {
		return "", false
	}
	kind, params, err := mime.ParseMediaType(dispositions[0])
	if err != nil || kind != "form-data" || params["name"] == "" {
		return "", false
	}
	for param := range strings.SplitSeq(strings.ToLower(dispositions[0]), ";") {
		if strings.HasPrefix(strings.TrimSpace(param), "name*") { // some use it instead of name, others besides it
			return "", false
		}
	}
	// Some decode an encoded word (RFC 2047).
	return params["name"], !strings.Contains(params["name"], "=?")
}

// plainQuotes reports whether every API finds the same quoted strings in a Content-Disposition:
// PHP knows single quotes too, and not everyone treats a backslash as an escape.
func plainQuotes(disposition string) bool {
	quoted := false
	for i, c := range []byte(disposition) {
		switch {
		case c == '"' && i > 0 && disposition[i-1] == '\\':
			return false
		case c == '"':
			quoted = !quoted
		case c == '\'' && !quoted:
			return false
		}
	}
	return true
}
