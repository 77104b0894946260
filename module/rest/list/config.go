package list

import (
	"cmp"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Config is how a collection is listed. The zero value asks the upstream with the
// convention's own names and finds the elements at the top of its answer.
type Config struct {
	// Items on a page when the client does not say. Default: 20.
	Default int `json:"default,omitempty"`
	// The most items a client may ask for. Default: 100.
	Max int `json:"max,omitempty"`
	// How the upstream is told.
	Send Send `json:"send,omitzero"`
	// The fields that a list may be sorted by. Default: none.
	Sort []Name `json:"sort,omitempty"`
	// The states that a list may be filtered by. Default: none.
	States []Name `json:"states,omitempty"`
	// Further parameters that a list may be filtered by. Default: none.
	Filters []Filter `json:"filters,omitempty"`
	// JSON Pointer of the elements in the upstream's answer. Default: the whole answer.
	Items string `json:"items,omitempty"`
	// JSON Pointer of the number of all elements; a number or digits in a string. Default:
	// the total is not known.
	Total string `json:"total,omitempty"`
	// Header of the upstream's answer with that number, instead of `total`: digits, or a
	// range with the number behind its slash, as Content-Range has it (`0-19/57`). Default: none.
	TotalHeader string `json:"total_header,omitempty"`
	// `local` for an upstream that always gives the whole list: the page is cut out here,
	// and elements that come are counted when the total is not declared. With cursors they are
	// followed, to a bound. Default: the upstream gives pages.
	Paginate string `json:"paginate,omitempty"`
	// Where the upstream's answers say how their next page is asked for, for one that has
	// cursors and no numbers of pages. Clients follow `next` links, and `page` is refused.
	// Default: the upstream has numbers of pages.
	Cursors []Cursor `json:"cursors,omitempty"`
	// A condition on the answer of an upstream that gives the whole list: it is complete when
	// this holds. Of one that is not, the total is not known. Default: every list is complete
	// that leads on to no further page by a cursor.
	Complete *envelope.Condition `json:"complete,omitempty"`
	// Conditions on the upstream's errors, any of which makes an error an empty page: that of a
	// page beyond the end. Default: none.
	EmptyWhen []envelope.Condition `json:"empty_when,omitempty"`
}

// Cursor is a parameter that leads to the upstream's next page.
type Cursor struct {
	// The upstream's parameter. Required.
	Parameter string `json:"parameter"`
	// JSON Pointer of its next value in the upstream's answer, a text or a number. There is no
	// next page when no cursor of the list has a value. Required.
	Pointer string `json:"pointer"`
}

// Send names the upstream's parameters.
type Send struct {
	// The number of the page. Default: `page`, unless `offset` is given.
	Page string `json:"page,omitempty"`
	// The number of elements before the page, instead of its number. Default: the number of the page is sent.
	Offset string `json:"offset,omitempty"`
	// The elements on a page. Default: `limit`.
	Limit string `json:"limit,omitempty"`
	// What to sort by. Default: `sort`.
	Sort string `json:"sort,omitempty"`
	// The value of that, with `{field}` and `{dir}`. Default: the field, with `-` in front
	// when it descends; the field alone where `direction` is given.
	SortFormat string `json:"sort_format,omitempty"`
	// The direction, where the upstream has a parameter for it. Default: there is none.
	Direction string `json:"direction,omitempty"`
	// The upstream's word for an ascending order. Default: `asc`.
	Ascending string `json:"ascending,omitempty"`
	// The upstream's word for a descending order. Default: `desc`.
	Descending string `json:"descending,omitempty"`
	// The state. Default: `state`.
	State string `json:"state,omitempty"`
}

// Name is a word of ours and the upstream's word for it.
type Name struct {
	// The name that clients use. Required.
	Name string `json:"name"`
	// The upstream's. Default: the same.
	Upstream string `json:"upstream,omitempty"`
}

// Filter is a parameter of a list besides page, limit, sort and state.
type Filter struct {
	Name
	// Refuses a request without it.
	Required bool `json:"required,omitempty"`
	// The values it may have. Default: any text of 1 to 1,024 bytes without control
	// characters.
	Values []Name `json:"values,omitempty"`
}

// Their returns the upstream's word.
func (n Name) Their() string { return cmp.Or(n.Upstream, n.Name) }

// Local reports whether pages are cut out of the upstream's whole list.
func (c *Config) Local() bool { return c.Paginate == "local" }

func (c *Config) limits() (standard, most int) {
	most = cmp.Or(c.Max, max(100, c.Default))
	return cmp.Or(c.Default, min(20, most)), most
}

// Numbers returns the names of the upstream's parameters whose values are whole numbers: of the page
// or the elements in front of it, and of the elements on it.
func (c *Config) Numbers() []string {
	s := c.Send
	return []string{cmp.Or(s.Offset, s.Page, "page"), cmp.Or(s.Limit, "limit")}
}
