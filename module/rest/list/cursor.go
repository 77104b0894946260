package list

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

const (
	// maxCursors is how many parameters lead to the next page at most.
	maxCursors = 8
	// maxPosition bounds what a cursor carries, in bytes. Links repeat it, and servers take
	// addresses of 8 KiB.
	maxPosition = 2 << 10
	// MaxCursor is the longest cursor that a client may send.
	MaxCursor = 4 << 10
)

// Sealer makes cursors that clients can neither read nor change, nor use where they were not
// made: bound is what a cursor belongs to. Open MUST fail for anything that Seal did not make
// for the same bound.
type Sealer interface {
	Seal(plain, bound []byte) string
	Open(sealed string, bound []byte) ([]byte, error)
}

// ByCursor reports whether clients read the list by cursors, without numbers of pages.
func (c *Config) ByCursor() bool { return len(c.Cursors) > 0 && !c.Local() }

func (c *Config) checkCursors() error {
	if len(c.Cursors) == 0 {
		return nil
	}
	if page := c.Send.Page + c.Send.Offset; page != "" {
		return fmt.Errorf("list: send page %s: the list has a cursor, expected one of the two", page)
	}
	if len(c.Cursors) > maxCursors {
		return fmt.Errorf("list: %d cursors, expected at most %d", len(c.Cursors), maxCursors)
	}
	for i, cursor := range c.Cursors {
		if cursor.Parameter == "" {
			return errors.New("list: cursor: expected the API's parameter")
		}
		if slices.ContainsFunc(c.Cursors[:i], func(other Cursor) bool { return other.Parameter == cursor.Parameter }) {
			return fmt.Errorf("list: cursor %s is given twice", cursor.Parameter)
		}
		if at, err := splice.ParsePointer(cursor.Pointer); err != nil || len(at) == 0 {
			return fmt.Errorf("list: cursor %s %s: expected a JSON Pointer such as /next_cursor", cursor.Parameter, cursor.Pointer)
		}
	}
	return nil
}

func (c *Config) checkConditions() error {
	if c.Complete != nil {
		if err := c.Complete.Check(); err != nil {
			return fmt.Errorf("list: complete: %w", err)
		}
	}
	for _, when := range c.EmptyWhen {
		if err := when.Check(); err != nil {
			return fmt.Errorf("list: empty_when: %w", err)
		}
	}
	return nil
}

// position is what a cursor carries: the number of the page it leads to, and the upstream's
// parameters.
type position struct {
	Page   int               `json:"p"`
	Values map[string][]byte `json:"v"` // bytes: escapes would make a text six times as long
}

// Seek goes to the page that the client's cursor leads to, if it sent one.
func (q *Query) Seek(s Sealer, bound []byte) *envelope.Refusal {
	if q.cursor == "" {
		return nil
	}
	refused := envelope.Invalid("cursor", "is not a cursor of this list: follow the `next` link of a page as it is, or begin without a cursor")
	plain, err := s.Open(q.cursor, bound)
	if err != nil {
		return refused
	}
	var at position
	if json.Unmarshal(plain, &at) != nil || at.Page < 2 {
		return refused
	}
	q.Page, q.position = at.Page, make(map[string]string, len(at.Values))
	for name, value := range at.Values {
		q.position[name] = string(value)
	}
	return nil
}

// Follows reports whether pages are cut out of what the upstream gives by cursors.
func (c *Config) Follows() bool { return c.Local() && len(c.Cursors) > 0 }

// Continue notes where the next page is: values are the upstream's, by the order of the
// declared cursors, as far as the answer has them.
func (q *Query) Continue(values []splice.Scalar, s Sealer, bound []byte) error {
	theirs, err := q.config.Next(values)
	if theirs == nil {
		return err
	}
	next := position{min(q.Page+1, Reach), make(map[string][]byte, len(theirs))}
	for name, value := range theirs {
		next.Values[name] = []byte(value)
	}
	plain, err := json.Marshal(next)
	if err == nil {
		q.next = s.Seal(plain, bound)
	}
	return err
}

// Next gives the upstream's parameters for its next page; nil when there is none. values are
// those of the declared cursors, as far as the answer has them.
func (c *Config) Next(values []splice.Scalar) (map[string]string, error) {
	next := make(map[string]string, len(values))
	size, more := 0, false
	for i, v := range values {
		name := c.Cursors[i].Parameter
		switch {
		case v.Kind == splice.Absent && !v.Long, v.Kind == splice.Null, v.Kind == splice.Bool && v.Text == "false":
			continue
		case v.Long:
			size = maxPosition
		case v.Kind != splice.String && v.Kind != splice.Number:
			return nil, fmt.Errorf("the cursor %s is of the kind %s, expected a text or a number", name, v.Kind)
		}
		if size += len(name) + len(v.Text); size > maxPosition {
			return nil, fmt.Errorf("the cursor %s has more than %d bytes", name, maxPosition)
		}
		next[name] = v.Text
		more = more || v.Text != ""
	}
	if !more {
		return nil, nil
	}
	return next, nil
}

// Bound are the parameters that a cursor belongs to: all of the client's but the cursor.
func (q *Query) Bound(asked url.Values) string {
	to := make(url.Values, len(asked)+1)
	maps.Copy(to, asked)
	delete(to, "cursor")
	to.Set("limit", strconv.Itoa(q.Limit))
	return to.Encode()
}

// IsRound reports whether APIs are known to cut lists at a length: 1, 2, 2.5 or 5 times a power
// of ten, from 10 on.
func IsRound(n int64) bool {
	if n < 10 {
		return false
	}
	for n%10 == 0 {
		n /= 10
	}
	return n == 1 || n == 2 || n == 5 || n == 25
}
