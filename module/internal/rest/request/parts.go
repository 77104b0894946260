package request

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"regexp"
	"strings"
)

// PartNames returns the names of the parts of a multipart body. ok is false if APIs would find different ones.
// PHP, for example, accepts a boundary after any line feed, reads on after the last one, and ignores the type of a
// Content-Disposition.
func PartNames(label string, body []byte) (names []string, ok bool) {
	boundary, ok := boundaryIn(label)
	if !ok {
		return nil, false
	}
	heads, ok := partHeads(body, boundary)
	count := 0
	for read := multipart.NewReader(bytes.NewReader(body), boundary); ok; count++ {
		_, err := read.NextRawPart()
		if err == io.EOF { //nolint:errorlint // a wrapped one is a form without an end
			break
		}
		ok = err == nil
	}
	if !ok || count != len(heads) {
		return nil, false
	}
	for _, head := range heads {
		found, ok := namesIn(head, formOf(label) == parts)
		if !ok {
			return nil, false
		}
		names = append(names, found...)
	}
	return names, true
}

// boundaryIn returns the boundary in a Content-Type if every API finds the same one. PHP takes what follows the first
// "boundary" in the line, whatever that belongs to, others the last, and nearly nobody knows escapes. The boundaries of
// browsers have that word in them, such as ----WebKitFormBoundary0123.
func boundaryIn(label string) (boundary string, ok bool) {
	_, params, err := mime.ParseMediaType(label)
	boundary = params["boundary"]
	if err != nil || !plainBoundary(boundary) {
		return "", false
	}
	label, value := strings.ToLower(label), strings.ToLower(boundary)
	before, after, ok := strings.Cut(label, `boundary="`+value+`"`)
	if !ok {
		before, after, ok = strings.Cut(label, "boundary="+value)
	}
	return boundary, ok && !strings.Contains(before, "boundary") && !strings.Contains(after, "boundary") && !strings.Contains(value, "boundary=")
}

// plainBoundary reports whether a boundary consists of the characters of RFC 2046 section 5.1.1, so that it needs no
// escapes, without the blank and the comma, where Rack ends it even in quotes.
func plainBoundary(b string) bool {
	const other = "'()+_-./:=?"
	return b != "" && len(b) <= 70 && !strings.ContainsFunc(b, func(c rune) bool {
		return !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.ContainsRune(other, c))
	})
}

// partHeads returns what is behind each line that begins with the boundary, up to a blank line. ok is false
// if the last of these lines, and only that, is not the end, or if APIs would read a head in different ways.
func partHeads(body []byte, boundary string) (heads []string, ok bool) {
	delimiter := []byte("--" + boundary)
	for at := nextLine(body, 0, delimiter); at < len(body); {
		begin := at + len(delimiter)
		at = nextLine(body, begin, delimiter)
		text := body[begin:at] // no head is longer: the next line with the boundary may look like a field
		if bytes.HasPrefix(text, []byte("--")) {
			return heads, at == len(body)
		}
		head, plain := headOf(text)
		if !plain {
			return nil, false
		}
		heads = append(heads, head)
	}
	return nil, false
}

// nextLine returns where the next line begins with a prefix, with any line ending in front, or the end of the text.
func nextLine(text []byte, from int, prefix []byte) int {
	for at := from; ; at++ {
		i := bytes.Index(text[at:], prefix)
		if i < 0 {
			return len(text)
		}
		if at += i; at == 0 || text[at-1] == '\n' || text[at-1] == '\r' {
			return at
		}
	}
}

// plainHead matches the head of a part that every API splits into the same lines: Go and Rack join a line that
// begins with a blank to the one before, to Django it is another field; Rack goes on where others see the end.
var plainHead = regexp.MustCompile("^(?:(?:" + plainField + "\r\n)*|(?:" + plainField + "\n)*)$")

const plainField = "[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\\x00-\\x08\\x0a-\\x1f\\x7f]*"

// headOf returns the head at the beginning of a text, which is the end of the line with the boundary.
func headOf(text []byte) (head string, ok bool) {
	end := "\n"
	if bytes.HasPrefix(text, []byte("\r\n")) {
		end = "\r\n"
	}
	before, _, found := bytes.Cut(text, []byte(end+end))
	if !found || len(before) > 0 && !bytes.HasPrefix(before, []byte(end)) {
		return "", false
	}
	if len(before) > 0 {
		head = string(before[len(end):]) + end
	}
	return head, plainHead.MatchString(head)
}

// namesIn returns the names by which APIs call a part. One that has no name, which only a form needs, Rack calls
// by its file name, its Content-ID or its type. It finds these fields also in the value of another.
func namesIn(head string, form bool) (names []string, ok bool) {
	var disposition string
	for line := range strings.Lines(head) {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if strings.EqualFold(field, "Content-Disposition") {
			disposition = value
		}
		names = append(names, value)
	}
	lower := strings.ToLower(head)
	if n := strings.Count(lower, "content-disposition"); n > 1 || n == 1 && disposition == "" || strings.Count(lower, "content-id") > 1 {
		return nil, false
	}
	if disposition == "" {
		return names, !form
	}
	name, file, ok := partName(disposition, form)
	if name == "" {
		return append(names, file), ok && !form
	}
	return []string{strings.TrimSpace(name)}, ok // as Django and Tomcat do
}

// escapedName matches a backslash in a name, which Jetty and Rack omit: they read `to\ken` as `token`.
var escapedName = regexp.MustCompile(`(?i)[;\s]name\s*=\s*"[^"]*\\`)

// oneName matches what some API takes for the name, also within a quoted string, and Node's formidable in the name
// of another parameter, `x-name=`. Rack looks for it only up to a colon.
var oneName = regexp.MustCompile(`(?i)\bname\s*=`)

// encodedFile matches a file name as .NET's HttpClient sends it (RFC 8187), besides a plain one. Its single quotes
// enclose nothing that any API could take for another parameter.
var encodedFile = regexp.MustCompile(`(?i);\s*filename\*=[a-z0-9-]+'[a-z0-9-]*'[a-z0-9%!#$&+.^_|~-]*`)

// partName returns the name of a part, and of its file, if every API finds the same ones in its Content-Disposition.
func partName(disposition string, form bool) (name, file string, ok bool) {
	found := oneName.FindAllStringIndex(disposition, -1)
	quoted := disposition
	if form {
		quoted = encodedFile.ReplaceAllString(disposition, "")
	}
	if !plainQuotes(quoted) || escapedName.MatchString(disposition) || len(found) > 1 || len(found) == 1 && strings.Contains(disposition[:found[0][0]], ":") {
		return "", "", false
	}
	kind, params, err := mime.ParseMediaType(disposition)
	if err != nil || form && kind != "form-data" || (params["name"] != "") != (len(found) == 1) {
		return "", "", false
	}
	for param := range strings.SplitSeq(strings.ToLower(disposition), ";") {
		if strings.HasPrefix(strings.TrimSpace(param), "name*") { // some use it instead of name, others besides it
			return "", "", false
		}
	}
	// Some decode an encoded word (RFC 2047).
	return params["name"], params["filename"], !strings.Contains(params["name"], "=?")
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
