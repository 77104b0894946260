package list

import (
	"cmp"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Config is how a collection is listed. The zero value sends the upstream the standard parameters and
// expects its response to be the list.
type Config struct {
	// The number of items on a page if the client does not specify it. Default: 20.
	Default int `json:"default,omitempty"`
	// The maximum number of items a client may request. Default: 100.
	Max int `json:"max,omitempty"`
	// The upstream's parameters.
	Send Send `json:"send,omitzero"`
	// The fields that a list can be sorted by. Default: none.
	Sort []Name `json:"sort,omitempty"`
	// The states that a list can be filtered by. Default: none.
	States []Name `json:"states,omitempty"`
	// Other parameters that a list can be filtered by. Default: none.
	Filters []Filter `json:"filters,omitempty"`
	// JSON Pointer to the items in the upstream's response. Default: the whole response.
	Items string `json:"items,omitempty"`
	// JSON Pointer to the total number of items, a number or a string of digits. Default: the total is
	// unknown.
	Total string `json:"total,omitempty"`
	// Header field of the upstream's response with the total, instead of `total`: digits, or a range
	// with the total after its slash, as in Content-Range (`0-19/57`). Default: none.
	TotalHeader string `json:"total_header,omitempty"`
	// `local` if the upstream always returns the whole list: the gateway cuts out the page, and counts
	// the items if no total is declared. With cursors it follows them, up to a limit. Default: the
	// upstream returns pages.
	Paginate string `json:"paginate,omitempty"`
	// Where the upstream's responses contain the cursor of the next page, if it has cursors instead of
	// page numbers. Clients follow `next` links; `page` is refused. Default: the upstream has page
	// numbers.
	Cursors []Cursor `json:"cursors,omitempty"`
	// A condition that the response of an upstream that returns the whole list meets if it is
	// complete. Otherwise the total is unknown. Default: a list is complete unless a cursor leads to a
	// further page.
	Complete *envelope.Condition `json:"complete,omitempty"`
	// Conditions on the upstream's responses, any of which makes an error, or a response without the
	// list, an empty page: for a page past the end. Default: none.
	EmptyWhen []envelope.Condition `json:"empty_when,omitempty"`
}

// Cursor is a parameter that requests the upstream's next page.
type Cursor struct {
	// The upstream's parameter. Required.
	Parameter string `json:"parameter"`
	// JSON Pointer to its next value in the upstream's response, a text or a number. If no cursor of
	// the list has a value, there is no next page. Required.
	Pointer string `json:"pointer"`
}

// Send names the upstream's parameters.
type Send struct {
	// The page number. Default: `page`, unless `offset` is set.
	Page string `json:"page,omitempty"`
	// The number of items before the page, instead of the page number. Default: the page number is
	// sent.
	Offset string `json:"offset,omitempty"`
	// The number of items on a page. Default: `limit`.
	Limit string `json:"limit,omitempty"`
	// The field to sort by. Default: `sort`.
	Sort string `json:"sort,omitempty"`
	// Its value, with the placeholders `{field}` and `{dir}`. Default: the field, preceded by `-` for
	// descending order; only the field if `direction` is set.
	SortFormat string `json:"sort_format,omitempty"`
	// The direction, if the upstream has a parameter for it. Default: none.
	Direction string `json:"direction,omitempty"`
	// The upstream's value for ascending order. Default: `asc`.
	Ascending string `json:"ascending,omitempty"`
	// The upstream's value for descending order. Default: `desc`.
	Descending string `json:"descending,omitempty"`
	// The state. Default: `state`.
	State string `json:"state,omitempty"`
}

// Name is a name that clients use and the upstream's name for the same.
type Name struct {
	// The name that clients use. Required.
	Name string `json:"name"`
	// The name that the upstream uses. Default: the same.
	Upstream string `json:"upstream,omitempty"`
}

// Filter is a parameter of a list other than page, limit, sort and state.
type Filter struct {
	Name
	// Refuses requests without it.
	Required bool `json:"required,omitempty"`
	// The permitted values. Default: any text of 1 to 1,024 bytes without control characters.
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
