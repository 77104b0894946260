package load

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// Request is what is sent again and again.
type Request struct {
	Method, Path, Host string
	// Fields are further header fields, each "Name: value".
	Fields []string
	Body   string
	// Tokens are what each request takes its bearer token from; nil for none.
	Tokens *Tokens
}

// Tokens hands out tokens in order, and begins again after the last one.
type Tokens struct {
	all  []string
	next atomic.Uint64
}

// NewTokens returns tokens that are all unused.
func NewTokens(all []string) *Tokens { return &Tokens{all: all} }

// Len is how many there are.
func (t *Tokens) Len() int { return len(t.all) }

func (t *Tokens) take() string {
	if t == nil {
		return ""
	}
	return t.all[(t.next.Add(1)-1)%uint64(len(t.all))]
}

const bearer = "Authorization: Bearer "

// encode gives the bytes in front of the token and behind it, for HTTP/1.1.
func (r Request) encode() (head, tail []byte) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: application/json\r\n", r.Method, r.Path, r.Host)
	for _, field := range r.Fields {
		b.WriteString(field + "\r\n")
	}
	if r.Body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.Body))
	}
	end := "\r\n" + r.Body
	if r.Tokens == nil {
		return []byte(b.String() + end), nil
	}
	return []byte(b.String() + bearer), []byte("\r\n" + end)
}
