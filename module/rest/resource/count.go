package resource

import (
	"strconv"
	"strings"
)

// count reads a total. What is no number of things is no total.
func count(text string) *int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return nil
	}
	return &n
}
