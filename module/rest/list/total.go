package list

import (
	"net/http"
	"strconv"
	"strings"
)

// ReadTotal reads the number of all elements of a list, from a number or a text of the
// upstream's. What is no number of things, or more than 64 bits hold, is no total.
func ReadTotal(text string) *int64 {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// HeaderTotal reads it from the declared header. A field that is there twice, and not
// with the same number, is none.
func (c *Config) HeaderTotal(h http.Header) (total *int64) {
	for _, value := range h.Values(c.TotalHeader) {
		if at := strings.LastIndexByte(value, '/'); at >= 0 {
			value = value[at+1:] // a range: RFC 9110 section 14.4
		}
		n := ReadTotal(value)
		if n == nil || total != nil && *total != *n {
			return nil
		}
		total = n
	}
	return total
}
