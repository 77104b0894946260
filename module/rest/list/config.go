package list

import (
	"fmt"

	"github.com/gatehouse/gatehouse/module/rest/splice"
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
	// Further parameters that are passed on, under the upstream's name. Default: none.
	Filters []Name `json:"filters,omitempty"`
	// JSON Pointer of the elements in the upstream's answer. Default: the whole answer.
	Items string `json:"items,omitempty"`
	// JSON Pointer of the number of all elements; a number or digits in a string. Default:
	// the total is not known.
	Total string `json:"total,omitempty"`
	// Header of the upstream's answer with that number, instead of `total`.
	TotalHeader string `json:"total_header,omitempty"`
	// `local` for an upstream that always gives the whole list: the page is cut out here.
	Paginate string `json:"paginate,omitempty"`
}

// Send names the upstream's parameters.
type Send struct {
	// The number of the page. Default: `page`, unless `offset` is given.
	Page string `json:"page,omitempty"`
	// The number of elements before the page, instead of its number.
	Offset string `json:"offset,omitempty"`
	// The elements on a page. Default: `limit`.
	Limit string `json:"limit,omitempty"`
	// What to sort by. Default: `sort`.
	Sort string `json:"sort,omitempty"`
	// The value of that, with `{field}` and `{dir}` (`asc` or `desc`). Default: the field,
	// with `-` in front when it descends.
	SortFormat string `json:"sort_format,omitempty"`
	// The state. Default: `state`.
	State string `json:"state,omitempty"`
}

// Name is a word of ours and the upstream's word for it.
type Name struct {
	Name     string `json:"name"`
	Upstream string `json:"upstream,omitempty"` // default: the same
}

// Their says it in the upstream's words.
func (n Name) Their() string {
	if n.Upstream == "" {
		return n.Name
	}
	return n.Upstream
}

// Local reports whether pages are cut out of the upstream's whole list.
func (c *Config) Local() bool { return c.Paginate == "local" }

func (c *Config) limits() (standard, most int) {
	standard, most = c.Default, c.Max
	if most == 0 {
		most = 100
	}
	if standard == 0 {
		standard = min(20, most)
	}
	return standard, most
}

// Check reports what is wrong with the configuration.
func (c *Config) Check() error {
	standard, most := c.limits()
	if standard < 1 || most < standard {
		return fmt.Errorf("list: default %d, max %d: expected 1 <= default <= max", c.Default, c.Max)
	}
	if c.Paginate != "" && c.Paginate != "local" {
		return fmt.Errorf("list: paginate %s: expected local", c.Paginate)
	}
	for word, pointer := range map[string]string{"items": c.Items, "total": c.Total} {
		if _, err := splice.ParsePointer(pointer); err != nil {
			return fmt.Errorf("list: %s %s: %w", word, pointer, err)
		}
	}
	return nil
}
