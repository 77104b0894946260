package http1

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
)

const (
	maxChunkLine    = 4 << 10
	maxTrailerBytes = 64 << 10
)

// reader reads the body of a response.
type reader struct {
	c       *conn
	left    int64 // of the body, or of a chunk; -1: until the end of the connection
	chunked bool
	begun   bool // a chunk was read, whose end of line is still to come
	done    bool // all was read
	trailer []field
}

// unexpected turns the end of the connection into an error.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Read implements io.Reader. At the end of the connection an answer that is not whole is an error.
func (r *reader) Read(p []byte) (int, error) {
	switch {
	case r.done:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	case r.chunked && r.left == 0:
		if err := r.nextChunk(); err != nil {
			return 0, unexpected(err)
		}
		if r.done {
			return 0, io.EOF
		}
	}
	if r.left >= 0 && int64(len(p)) > r.left {
		p = p[:r.left]
	}
	n, err := r.c.in.Read(p)
	if r.left < 0 {
		r.done = errors.Is(err, io.EOF)
		return n, err
	}
	if r.left -= int64(n); r.left == 0 && !r.chunked {
		r.done = true
		return n, nil
	}
	return n, unexpected(err)
}

// isReady reports whether the next Read returns something without waiting for the server.
func (r *reader) isReady() bool {
	if r.done || !r.chunked || r.left > 0 {
		return r.done || r.c.in.Buffered() > 0
	}
	next, err := r.c.in.Peek(r.c.in.Buffered())
	if err != nil {
		return false
	}
	if r.begun {
		next = bytes.TrimPrefix(next, []byte("\r\n"))
	}
	_, data, found := bytes.Cut(next, []byte("\n"))
	if bytes.HasPrefix(next, []byte("0")) {
		return bytes.HasPrefix(data, []byte("\r\n")) || bytes.HasSuffix(data, endOfHead)
	}
	return found && len(data) > 0
}

// nextChunk reads the line before a chunk, and after the last chunk the trailer fields
// (RFC 9112, section 7.1). Chunk extensions are skipped.
func (r *reader) nextChunk() error {
	if r.begun {
		end, err := r.c.in.Peek(2)
		if err != nil {
			return err
		}
		if string(end) != "\r\n" {
			return malformed("a chunk is longer than it says")
		}
		if _, err := r.c.in.Discard(2); err != nil {
			return err
		}
	}
	line, err := r.c.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if len(line) > maxChunkLine {
		return malformed("the line before a chunk is too long")
	}
	if r.left, err = chunkSize(string(line)); err != nil {
		return err
	}
	r.begun = true
	if r.left > 0 {
		return nil
	}
	lines, err := r.c.readLines(maxTrailerBytes)
	if err != nil {
		return err
	}
	r.trailer, err = parseFields(nil, lines)
	r.done = err == nil
	return err
}

// chunkSize reads the line before a chunk: hexadecimal digits, and extensions after a semicolon.
func chunkSize(line string) (n int64, err error) {
	line, ended := strings.CutSuffix(line, "\r\n")
	if !ended || !isText(line) {
		return 0, malformed("chunk size %.30q", line)
	}
	digits, _, _ := strings.Cut(line, ";")
	digits = strings.TrimRight(digits, " \t")
	if digits == "" || len(digits) > 15 {
		return 0, malformed("chunk size %.30q", line)
	}
	for _, c := range []byte(digits) {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | int64(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | int64(c|0x20-'a'+10)
		default:
			return 0, malformed("chunk size %.30q", line)
		}
	}
	return n, nil
}

// isTrailer reports whether a field may stand in a trailer: none that frames or routes the message
// (RFC 9110, section 6.5.1).
func isTrailer(name string) bool {
	switch name {
	case "Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Host", "Cache-Control", "Authorization", "Set-Cookie":
		return false
	}
	return !isHopByHop(name)
}

// addTrailer adds trailer fields to the header of a response that has been written.
func (r *reader) addTrailer(header http.Header) {
	for _, f := range r.trailer {
		if isTrailer(f.name) {
			name := http.TrailerPrefix + f.name
			header[name] = append(header[name], f.value)
		}
	}
}
