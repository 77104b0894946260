package list

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
)

// Seen is what an answer told about a list.
type Seen struct {
	// Total is the number of all elements, nil when it is not known.
	Total *int64
	// Elements are those that came; -1 as long as more may come.
	Elements int64
}

// Pagination adds the pagination object; total is nil when it is not known.
func (q Query) Pagination(dst []byte, total *int64) []byte {
	dst = append(dst, `{"total":`...)
	dst = number(dst, total)
	dst = append(dst, `,"page":`...)
	dst = number(dst, q.page())
	dst = append(dst, `,"limit":`...)
	dst = strconv.AppendInt(dst, int64(q.Limit), 10)
	dst = append(dst, `,"total_pages":`...)
	dst = number(dst, q.pages(total))
	switch {
	case !q.config.ByCursor():
	case q.next == "":
		dst = append(dst, `,"next_cursor":null`...)
	default:
		dst = append(append(append(dst, `,"next_cursor":"`...), q.next...), '"') // URL-safe
	}
	return append(dst, '}')
}

// page is the number of the page, nil if it is not known.
func (q Query) page() *int64 {
	if q.stray {
		return nil
	}
	n := int64(q.Page)
	return &n
}

// pages is the number of pages, without adding up what could overflow.
func (q Query) pages(total *int64) *int64 {
	if total == nil {
		return nil
	}
	limit := int64(q.Limit)
	n := *total / limit
	if *total%limit > 0 {
		n++
	}
	return &n
}

func number(dst []byte, n *int64) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, *n, 10)
}

// LinkHeader is the Link header (RFC 8288) of a page: path is the client's, escaped,
// query the one it sent. No page is linked that Parse would refuse, and from a page
// beyond the end `prev` leads back to the last one. Without a total there is no `last`,
// and `next` wherever there may be one: clients follow it until it is missing.
func (q Query) LinkHeader(path string, query url.Values, seen Seen) string {
	if q.config.ByCursor() {
		return q.cursorLinks(path, query)
	}
	pages, top := q.pages(seen.Total), int64(Reach/q.Limit)
	page := int64(q.Page)
	back, more := page-1, seen.Elements < 0 || seen.Elements >= int64(q.Limit)
	if q.config.Local() && seen.Elements >= 0 {
		more = seen.Elements > page*int64(q.Limit)
	}
	if pages != nil {
		back, more = min(back, max(*pages, 1)), page < *pages
	}
	start, end := q.around(path, query)
	var b strings.Builder
	b.Grow(4 * (len(start) + len(end) + len(`, <>; rel="first"`) + 4))
	add := func(rel string, page int64) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(start)
		b.WriteString(strconv.FormatInt(page, 10))
		b.WriteString(end)
		b.WriteString(rel)
		b.WriteByte('"')
	}
	add("first", 1)
	if page > 1 {
		add("prev", back)
	}
	if more && page < top {
		add("next", page+1)
	}
	if pages != nil && *pages <= top {
		add("last", max(*pages, 1))
	}
	return b.String()
}

// around is what stands in front of the page number and behind it in each link of a list:
// the parameters of the query but for the page, sorted by name as pathpattern.EncodeQuery does.
func (q Query) around(path string, query url.Values) (start, end string) {
	before, after := make(url.Values, len(query)+1), url.Values(nil)
	for name, values := range query {
		switch {
		case name < "page":
			before[name] = values
		case name > "page":
			if after == nil {
				after = make(url.Values, len(query))
			}
			after[name] = values
		}
	}
	before["limit"] = []string{strconv.Itoa(q.Limit)}
	start, end = "<"+path+"?"+pathpattern.EncodeQuery(before)+"&page=", `>; rel="`
	if len(after) > 0 {
		end = "&" + pathpattern.EncodeQuery(after) + end
	}
	return start, end
}

// cursorLinks is LinkHeader for a list that is read by cursors: there is no way back but to
// the beginning.
func (q Query) cursorLinks(path string, query url.Values) string {
	to := make(url.Values, len(query)+1)
	maps.Copy(to, query)
	to.Set("limit", strconv.Itoa(q.Limit))
	to.Del("cursor")
	links := "<" + path + "?" + pathpattern.EncodeQuery(to) + `>; rel="first"`
	if q.next != "" {
		to.Set("cursor", q.next)
		links += ", <" + path + "?" + pathpattern.EncodeQuery(to) + `>; rel="next"`
	}
	return links
}

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
