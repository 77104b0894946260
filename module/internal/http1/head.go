package http1

import (
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// field is a header field. The name is in canonical form.
type field struct{ name, value string }

// head is the status line and the header fields of a response.
type head struct {
	status int
	minor  int // of the version: HTTP/1.minor
	fields []field
}

// parse reads what stands before the empty line. Every line ends with CR LF. Lines that continue
// the one before (obs-fold), a space before a colon, and bare CR or LF are errors (RFC 9112,
// sections 2.2, 5.1 and 5.2).
func (h *head) parse(text string) error {
	line, rest, _ := strings.Cut(text, "\r\n")
	if err := h.parseStatusLine(line); err != nil {
		return err
	}
	var err error
	h.fields, err = parseFields(h.fields[:0], rest)
	return err
}

// parseStatusLine reads the line "HTTP/1.1 200 OK". The reason phrase and the space before it may
// be missing, as they are in the answers of many servers.
func (h *head) parseStatusLine(line string) error {
	const version, code = len("HTTP/1."), len("HTTP/1.1 ")
	if len(line) < code+3 || line[:version] != "HTTP/1." || line[version]|1 != '1' || line[code-1] != ' ' ||
		!isText(line) || len(line) > code+3 && line[code+3] != ' ' {
		return malformed("status line %.60q", line)
	}
	h.minor = int(line[version] - '0')
	var err error
	if h.status, err = strconv.Atoi(line[code : code+3]); err != nil || h.status < 100 {
		return malformed("status %q", line[code:code+3])
	}
	return nil
}

// parseFields appends the fields of lines that end with CR LF.
func parseFields(fields []field, lines string) ([]field, error) {
	for lines != "" {
		line, rest, ended := strings.Cut(lines, "\r\n")
		lines = rest
		name, value, found := strings.Cut(line, ":")
		if !ended || !found { // it is not shown, since values may be secrets
			return nil, malformed("a header line without a colon")
		}
		if !isToken(name) {
			return nil, malformed("field name %.60q", name)
		}
		if value = strings.Trim(value, " \t"); !isText(value) {
			return nil, malformed("a control character in %s", name)
		}
		fields = append(fields, field{textproto.CanonicalMIMEHeaderKey(name), value})
	}
	return fields, nil
}

// isText reports whether s may be a field value: no control character but the tab (RFC 9110,
// section 5.5).
func isText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || !tokenBytes[c] {
			return false
		}
	}
	return s != ""
}

var tokenBytes = func() (is [0x80]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		is[c] = true
	}
	return is
}()

// length returns how long the body is (RFC 9112, section 6.3); -1 means until the end of the
// connection. Two lengths, a length beside chunks, and codings besides chunks are errors: they are
// how one answer is made to look like two.
func (h *head) length(method string) (n int64, chunked bool, err error) {
	n = -1
	var coded, misplaced bool
	var first string // length as it is written
	for _, f := range h.fields {
		switch f.name {
		case "Transfer-Encoding":
			if coded || h.minor == 0 || !strings.EqualFold(f.value, "chunked") {
				return 0, false, malformed("Transfer-Encoding %.60q", f.value)
			}
			coded = true
		case "Content-Length":
			length, err := strconv.ParseUint(f.value, 10, 63)
			if err != nil || n >= 0 && f.value != first {
				return 0, false, malformed("Content-Length %.60q", f.value)
			}
			n, first = int64(length), f.value
		case "Trailer":
			misplaced = misplaced || listHas(f.value, "Content-Length") || listHas(f.value, "Transfer-Encoding") || listHas(f.value, "Trailer")
		}
	}
	switch {
	case coded && misplaced:
		return 0, false, malformed("a trailer that frames the message")
	case coded && n >= 0:
		return 0, false, malformed("both Content-Length and Transfer-Encoding")
	case method == http.MethodHead || h.status < 200 || h.status == http.StatusNoContent || h.status == http.StatusNotModified:
		return 0, false, nil
	}
	return n, coded, nil
}

// has reports whether a field that is a list has a token.
func (h *head) has(name, token string) bool {
	for _, f := range h.fields {
		if f.name == name && listHas(f.value, token) {
			return true
		}
	}
	return false
}

// listHas reports whether a list of tokens has one, in upper or lower case.
func listHas(list, token string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.Trim(one, " \t"), token) {
			return true
		}
	}
	return false
}

// isHopByHop reports whether a field is for one connection alone (RFC 9110, section 7.6.1, and
// fields that were used so before).
func isHopByHop(name string) bool {
	switch name {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Alt-Svc":
		return true
	}
	return false
}

// copyFields adds the fields that are not hop-by-hop to header. A length of an answer that can have no body
// is left out (RFC 9110, section 8.6): a client of HTTP/2 would take the stream for broken.
func (h *head) copyFields(header http.Header) {
	var named names
	for _, f := range h.fields {
		if f.name == "Connection" {
			named = named.add(f.value)
		}
	}
	values := make([]string, len(h.fields))
	var measured bool
	for i, f := range h.fields {
		if isHopByHop(f.name) || named[f.name] {
			continue
		}
		if f.name == "Content-Length" {
			if measured || h.status < 200 || h.status == http.StatusNoContent {
				continue // the same again, or none
			}
			measured = true
		}
		if prior := header[f.name]; prior != nil {
			header[f.name] = append(prior, f.value)
			continue
		}
		values[i] = f.value
		header[f.name] = values[i : i+1 : i+1]
	}
}

// names are those of the fields that Connection names, which end here too, in canonical form. They are a set, since a
// header may have thousands of fields and Connection name thousands.
type names map[string]bool

// add adds the names in a value of Connection.
func (n names) add(value string) names {
	if strings.EqualFold(value, "keep-alive") { // as nearly always
		return n
	}
	if n == nil {
		n = make(names)
	}
	for one := range strings.SplitSeq(value, ",") {
		n[textproto.CanonicalMIMEHeaderKey(strings.Trim(one, " \t"))] = true
	}
	return n
}
