package list

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
)

// Send adds the upstream's parameters. A list that is cut here is asked for whole.
func (q Query) Send(to url.Values) {
	s := q.config.Send
	for name, value := range q.position {
		to.Set(name, value)
	}
	if !q.config.Local() {
		if len(q.config.Cursors) > 0 {
			// The position says which page.
		} else if s.Offset != "" {
			to.Set(s.Offset, strconv.Itoa((q.Page-1)*q.Limit))
		} else {
			to.Set(cmp.Or(s.Page, "page"), strconv.Itoa(q.Page))
		}
		to.Set(cmp.Or(s.Limit, "limit"), strconv.Itoa(q.Limit))
	}
	q.order(to)
	if n := find(q.config.States, q.State); n != nil {
		to.Set(cmp.Or(s.State, "state"), n.Their())
	}
	for name, values := range q.Filters {
		to[name] = values
	}
}

func (q Query) order(to url.Values) {
	s, n := q.config.Send, find(q.config.Sort, q.Sort)
	if n == nil {
		return
	}
	direction, minus := s.words()[0], ""
	if q.Descending {
		direction, minus = s.words()[1], "-"
	}
	format := s.SortFormat
	switch {
	case s.Direction != "":
		to.Set(s.Direction, direction)
		format = cmp.Or(format, "{field}")
	case format == "":
		format = minus + "{field}"
	}
	// At once, so that no field named {dir} is filled in again.
	to.Set(cmp.Or(s.Sort, "sort"), strings.NewReplacer("{field}", n.Their(), "{dir}", direction).Replace(format))
}
