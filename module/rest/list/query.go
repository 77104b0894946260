package list

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Query is what a client asks of a list.
type Query struct {
	Page, Limit int
	Sort        string // a declared field; "" for the upstream's order
	Descending  bool
	State       string     // a declared state; "" for all
	Filters     url.Values // in the upstream's words

	cursor   string            // the client's, sealed
	position map[string]string // the upstream's parameters instead of a number of a page
	next     string            // the cursor of the next page; "" where there is none

	config *Config
	usual  bool // see Usual
	// exceeded: the usual page had more elements than were asked for.
	exceeded bool
	asked    int  // the limit that was asked for of a usual page; 0: none
	stray    bool // the usual page is another one than was asked for
}

// MaxText is the longest value of a filter that takes any text. Links repeat it.
const MaxText = 1024

// Parse reads the parameters of a request. Whatever is not declared is refused, and
// whatever two readers could understand differently: a parameter that is given twice, a
// number that is not written in the shortest way. An upstream would ignore it, and the
// client would take the answer for what it asked for.
func (c *Config) Parse(asked url.Values) (Query, *envelope.Refusal) {
	standard, most := c.limits()
	q := Query{Page: 1, Limit: standard, Filters: url.Values{}, config: c}
	// In order: the limit must be known before the page is judged, and of several faults
	// always the same one is told.
	names := slices.Sorted(maps.Keys(asked))
	for _, name := range names {
		if len(asked[name]) != 1 {
			return q, envelope.Invalid(name, "is given more than once")
		}
	}
	for _, name := range names {
		if refused := q.read(name, asked[name][0], most); refused != nil {
			return q, refused
		}
	}
	for i := range c.Filters {
		if f := &c.Filters[i]; f.Required && !asked.Has(f.Name.Name) {
			return q, envelope.Invalid(f.Name.Name, "is missing: this list is only given with it")
		}
	}
	return q, nil
}

// read takes one parameter. limit comes before page.
func (q *Query) read(name, value string, most int) *envelope.Refusal {
	c, ok := q.config, true
	switch name {
	case "limit":
		q.Limit, ok = digits(value, most)
		if !ok {
			return envelope.Invalid(name, "must be a number from 1 to "+strconv.Itoa(most))
		}
	case "page":
		if c.ByCursor() {
			return envelope.Invalid(name, "is not a parameter of this list: its pages have no numbers, follow the `next` link")
		}
		q.Page, ok = digits(value, Reach/q.Limit)
		if !ok {
			return envelope.Invalid(name, "must be a number from 1 to "+strconv.Itoa(Reach/q.Limit))
		}
	case "sort":
		q.Sort, q.Descending = strings.CutPrefix(value, "-")
		if find(c.Sort, q.Sort) == nil {
			return oneOf(name, "must be one of the fields that this list is sorted by, with - in front for the descending order", c.Sort)
		}
	case "state":
		q.State = value
		if find(c.States, value) == nil {
			return oneOf(name, "must be one of the states of this list", c.States)
		}
	case "cursor":
		if !c.ByCursor() {
			return q.filter(name, value)
		}
		if value == "" || len(value) > MaxCursor {
			return envelope.Invalid(name, "must be the cursor of a `next` link")
		}
		q.cursor = value
	default:
		return q.filter(name, value)
	}
	return nil
}

func (q *Query) filter(name, value string) *envelope.Refusal {
	i := slices.IndexFunc(q.config.Filters, func(f Filter) bool { return f.Name.Name == name })
	if i < 0 {
		return envelope.Invalid(name, "is not a parameter of this list")
	}
	f := &q.config.Filters[i]
	if len(f.Values) > 0 {
		n := find(f.Values, value)
		if n == nil {
			return oneOf(name, "must be one of the declared values", f.Values)
		}
		value = n.Their()
	} else if !IsText(value) {
		return envelope.Invalid(name, "must be a text of 1 to "+strconv.Itoa(MaxText)+" bytes without control characters")
	}
	q.Filters.Set(f.Their(), value)
	return nil
}

// oneOf names what there is to choose from.
func oneOf(name, text string, names []Name) *envelope.Refusal {
	if len(names) == 0 {
		return envelope.Invalid(name, "is not a parameter of this list")
	}
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = n.Name
	}
	return envelope.Invalid(name, text+": "+strings.Join(words, ", "))
}

// digits reads a number from 1 to most in its only spelling.
func digits(text string, most int) (int, bool) {
	if text == "" || len(text) > 10 || text[0] == '0' || strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n <= most
}

func find(names []Name, name string) *Name {
	i := slices.IndexFunc(names, func(n Name) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &names[i]
}

// Window is the part of the upstream's elements that is the page: how many are passed
// over, and how many follow. An upstream that sends more than it was asked for is cut.
func (q Query) Window() (skip, take int) {
	if q.usual || q.config.ByCursor() { // what is cut off would be on no page
		return 0, 0
	}
	if q.config.Local() {
		return (q.Page - 1) * q.Limit, q.Limit
	}
	return 0, q.Limit
}
