package list

import (
	"cmp"
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
	State       string
	Filters     url.Values

	config *Config
}

// maxPage keeps page * limit within what any upstream counts with.
const maxPage = 1_000_000

// Parse reads the parameters of a request. Whatever is not declared is refused.
func (c *Config) Parse(asked url.Values) (Query, *envelope.Refusal) {
	standard, most := c.limits()
	q := Query{Page: 1, Limit: standard, Filters: url.Values{}, config: c}
	for name, values := range asked {
		if len(values) != 1 {
			return q, envelope.Invalid(name, "It may be given once.")
		}
		value := values[0]
		switch name {
		case "page", "limit":
			top := maxPage
			if name == "limit" {
				top = most
			}
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > top || value[0] == '+' {
				return q, envelope.Invalid(name, "It must be a number from 1 to "+strconv.Itoa(top)+".")
			}
			if name == "page" {
				q.Page = n
			} else {
				q.Limit = n
			}
		case "sort":
			q.Sort, q.Descending = strings.CutPrefix(value, "-")
			if find(c.Sort, q.Sort) == nil {
				return q, envelope.Invalid(name, "It must be one of the fields that this list is sorted by.")
			}
		case "state":
			if q.State = value; find(c.States, value) == nil {
				return q, envelope.Invalid(name, "It must be one of the states of this list.")
			}
		default:
			n := find(c.Filters, name)
			if n == nil {
				return q, envelope.Invalid(name, "This list has no such parameter.")
			}
			q.Filters.Set(n.Their(), value)
		}
	}
	return q, nil
}

func find(names []Name, name string) *Name {
	i := slices.IndexFunc(names, func(n Name) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &names[i]
}

// Send adds the upstream's parameters. A list that is cut here is asked for whole.
func (q Query) Send(to url.Values) {
	s := q.config.Send
	if !q.config.Local() {
		if s.Offset != "" {
			to.Set(s.Offset, strconv.Itoa((q.Page-1)*q.Limit))
		} else {
			to.Set(cmp.Or(s.Page, "page"), strconv.Itoa(q.Page))
		}
		to.Set(cmp.Or(s.Limit, "limit"), strconv.Itoa(q.Limit))
	}
	if n := find(q.config.Sort, q.Sort); n != nil {
		direction, minus := "asc", ""
		if q.Descending {
			direction, minus = "desc", "-"
		}
		format := cmp.Or(s.SortFormat, minus+"{field}")
		to.Set(cmp.Or(s.Sort, "sort"), strings.NewReplacer("{field}", n.Their(), "{dir}", direction).Replace(format))
	}
	if n := find(q.config.States, q.State); n != nil {
		to.Set(cmp.Or(s.State, "state"), n.Their())
	}
	for name, values := range q.Filters {
		to[name] = values
	}
}

// Window is the part of the upstream's elements that is the page: how many are passed
// over, and how many follow.
func (q Query) Window() (skip, take int) {
	if q.config.Local() {
		return (q.Page - 1) * q.Limit, q.Limit
	}
	return 0, q.Limit
}

// Pagination adds the pagination object; total is nil when it is not known.
func (q Query) Pagination(dst []byte, total *int64) []byte {
	dst = append(dst, `{"total":`...)
	dst = number(dst, total)
	dst = append(dst, `,"page":`...)
	dst = strconv.AppendInt(dst, int64(q.Page), 10)
	dst = append(dst, `,"limit":`...)
	dst = strconv.AppendInt(dst, int64(q.Limit), 10)
	dst = append(dst, `,"total_pages":`...)
	dst = number(dst, q.pages(total))
	return append(dst, '}')
}

func (q Query) pages(total *int64) *int64 {
	if total == nil {
		return nil
	}
	n := (*total + int64(q.Limit) - 1) / int64(q.Limit)
	return &n
}

func number(dst []byte, n *int64) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, *n, 10)
}

// LinkHeader is the Link header (RFC 8288) of a page: path is the client's, query the
// one it sent.
func (q Query) LinkHeader(path string, query url.Values, total *int64) string {
	var links []string
	add := func(rel string, page int64) {
		to := url.Values{}
		for name, values := range query {
			to[name] = values
		}
		to.Set("page", strconv.FormatInt(page, 10))
		to.Set("limit", strconv.Itoa(q.Limit))
		links = append(links, "<"+path+"?"+to.Encode()+`>; rel="`+rel+`"`)
	}
	pages := q.pages(total)
	add("first", 1)
	if q.Page > 1 {
		add("prev", int64(q.Page-1))
	}
	if pages != nil {
		if int64(q.Page) < *pages {
			add("next", int64(q.Page+1))
		}
		add("last", max(*pages, 1))
	}
	return strings.Join(links, ", ")
}
