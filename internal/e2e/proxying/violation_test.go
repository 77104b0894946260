package proxying

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// What is valid HTTP/1.1, told in another way than module/internal/http1 tells it.
var (
	statusLine = regexp.MustCompile(`^HTTP/1\.([01]) ([1-9][0-9]{2})( [\t -~\x80-\xff]*)?$`)
	fieldLine  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\\t -~\\x80-\\xff]*$")
	chunkLine  = regexp.MustCompile(`^([0-9a-fA-F]{1,15})[ \t]*(;[\t -~\x80-\xff]*)?$`)
	number     = regexp.MustCompile(`^[0-9]+$`)
	loose      = regexp.MustCompile(`(^|[^\r])\n|\r([^\n]|$)`)
)

// violation says why an answer is not one that every reader understands in the same way; "" if it
// is one, or ends before that can be told.
func violation(method, answer string) string {
	for range 16 {
		head, rest, whole := strings.Cut(asBytes(answer), "\r\n\r\n")
		if !whole {
			if loose.MatchString(strings.TrimSuffix(head, "\r")) {
				return "a bare CR or LF"
			}
			return ""
		}
		status, length, chunked, why := violationOfHead(head)
		switch {
		case why != "":
			return why
		case status == http.StatusSwitchingProtocols:
			return "101 that nobody asked for"
		case status < 200:
			answer = fromBytes(rest)
			continue
		case length && chunked:
			return "both Content-Length and Transfer-Encoding"
		case !chunked || method == http.MethodHead || status == http.StatusNoContent || status == http.StatusNotModified:
			return ""
		}
		return violationOfChunks(rest)
	}
	return "too many answers before the final one"
}

// asBytes makes a text of which each character is a byte, for regular expressions.
func asBytes(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// fromBytes undoes asBytes.
func fromBytes(s string) string {
	var bytes []byte
	for _, r := range s {
		bytes = append(bytes, byte(r))
	}
	return string(bytes)
}

func violationOfHead(head string) (status int, length, chunked bool, why string) {
	if loose.MatchString(head) {
		return 0, false, false, "a bare CR or LF"
	}
	lines := strings.Split(head, "\r\n")
	first := statusLine.FindStringSubmatch(lines[0])
	if first == nil {
		return 0, false, false, "the status line"
	}
	status, _ = strconv.Atoi(first[2])
	var size string
	for _, line := range lines[1:] {
		if !fieldLine.MatchString(line) {
			return 0, false, false, "a field line"
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		switch strings.ToLower(name) {
		case "content-length":
			if !number.MatchString(value) || length && size != value {
				return 0, false, false, "Content-Length"
			}
			length, size = true, value
		case "transfer-encoding":
			if chunked || first[1] == "0" || !strings.EqualFold(value, "chunked") {
				return 0, false, false, "Transfer-Encoding"
			}
			chunked = true
		}
	}
	return status, length, chunked, ""
}

func violationOfChunks(rest string) string {
	for {
		line, after, whole := strings.Cut(rest, "\n")
		if !whole {
			return ""
		}
		line, ended := strings.CutSuffix(line, "\r")
		size := chunkLine.FindStringSubmatch(line)
		if !ended || size == nil {
			return "the line before a chunk"
		}
		n, _ := strconv.ParseInt(size[1], 16, 64)
		if n == 0 {
			return violationOfTrailer(after)
		}
		data := []rune(after)
		if int64(len(data)) < n+2 {
			return ""
		}
		if string(data[n:n+2]) != "\r\n" {
			return "a chunk that is longer than it says"
		}
		rest = string(data[n+2:])
	}
}

func violationOfTrailer(text string) string {
	if strings.HasPrefix(text, "\r\n") {
		return ""
	}
	fields, _, _ := strings.Cut(text, "\r\n\r\n")
	if loose.MatchString(strings.TrimSuffix(fields, "\r")) {
		return "a bare CR or LF in the trailer"
	}
	for _, line := range strings.Split(fields, "\r\n") {
		if !fieldLine.MatchString(line) {
			return "a line of the trailer"
		}
	}
	return ""
}
