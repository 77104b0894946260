package list

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Usual is the page that a request asks for of an upstream which is taken to know `page` and
// `limit`: they were passed on as they came. What cannot be read the upstream has not
// followed either: then it is the first page, and the limit is not known.
func Usual(asked url.Values) Query {
	q := Query{Page: 1, config: &Config{}, usual: true}
	q.Limit, _ = digits(asked.Get("limit"), Reach)
	q.asked = q.Limit
	if page, ok := digits(asked.Get("page"), Reach/max(q.Limit, 1)); ok {
		q.Page = page
	}
	return q
}

// Position is what an upstream's answer says about its page. Each is nil if it says nothing.
type Position struct {
	Page   *int64
	Offset *int64 // elements in front of the page
	Limit  *int64
}

// strays reports whether an upstream that nothing is declared of says that its answer is
// another page than was asked for.
func (q *Query) strays(at Position) bool {
	limit, page := int64(q.asked), int64(q.Page)
	switch {
	case !q.usual || q.stray:
		return q.stray
	case at.Page != nil && *at.Page != page, at.Limit != nil && limit > 0 && *at.Limit != limit:
		return true
	case at.Offset == nil:
		return false
	case at.Limit != nil:
		limit = *at.Limit
	}
	if limit == 0 {
		return (*at.Offset == 0) != (page == 1)
	}
	return *at.Offset != (page-1)*limit
}

// Follows reports whether, by what it says, an upstream that nothing is declared of may know
// `page` and `limit`. One that says how many elements are in front of the first page, and not
// its number, counts only those.
func (q *Query) Follows(at Position) bool {
	return !q.strays(at) && (q.Page > 1 || at.Offset == nil || at.Page != nil)
}

// Fit completes the page of an upstream that nothing is declared of: total is the number of
// all elements if it is known, elements the number of those that came. More than were asked
// for show that the upstream does not know `limit`: then the page is what came, and the first
// one unless there is more. The number of a page that strays is not known.
func (q *Query) Fit(at Position, total *int64, elements int64) {
	told := at.Limit
	q.stray = q.strays(at)
	if q.usual && q.Exceeded(elements) {
		q.exceeded, q.Limit = true, 0
		if total == nil || *total <= elements {
			q.Page = 1
		}
	}
	if q.stray && told != nil {
		q.Limit = 0
	}
	switch {
	case !q.usual || q.Limit > 0:
	case told != nil && *told > 0 && *told <= Reach/int64(q.Page) && (!q.exceeded || *told >= elements):
		q.Limit = int(*told)
	case elements > 0 && elements <= Reach/int64(q.Page):
		q.Limit = int(elements)
	default:
		q.Limit = 20
	}
}

// Exceeded reports whether an upstream that cuts pages itself gave more elements than it was
// asked for, so that it does not know the parameter that `limit` was sent as.
func (q *Query) Exceeded(elements int64) bool {
	return q.exceeded || q.Limit > 0 && !q.config.Local() && elements > int64(q.Limit)
}

// Linked reports whether the pages around this one are known; elements is the number of
// those that have come so far. Without a total, or without an upstream that knows `page` and
// `limit`, whoever follows `next` could follow it for ever.
func (q *Query) Linked(at Position, total *int64, elements int64) bool {
	return !q.usual || total != nil && q.Limit > 0 && !q.Exceeded(elements) && q.Follows(at)
}

// IsText reports whether a value of a parameter is a text of 1 to MaxText bytes without
// control characters.
func IsText(value string) bool {
	return value != "" && len(value) <= MaxText && utf8.ValidString(value) && !strings.ContainsFunc(value, unicode.IsControl)
}
