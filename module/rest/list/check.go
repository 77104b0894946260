package list

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// Reach is the greatest number of an element that can be asked for, page times limit. Upstreams
// multiply the two, and some do so in 32 bits.
const Reach = 1<<31 - 1

var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110 section 5.6.2

// reserved are the parameters of every list.
var reserved = []string{"page", "limit", "sort", "state"}

// Check reports what is wrong with the configuration.
func (c *Config) Check() error {
	standard, most := c.limits()
	switch {
	case c.Default < 0 || c.Max < 0 || most < standard || most > Reach:
		return fmt.Errorf("list: default %d, max %d: expected 1 <= default <= max <= %d", c.Default, c.Max, Reach)
	case c.Paginate != "" && !c.Local():
		return fmt.Errorf("list: paginate %s: expected local", c.Paginate)
	case c.Total != "" && c.TotalHeader != "":
		return fmt.Errorf("list: total %s: expected a pointer or a header, not both (%s)", c.Total, c.TotalHeader)
	case c.TotalHeader != "" && !token.MatchString(c.TotalHeader):
		return fmt.Errorf("list: total_header %s: expected the name of a header field", c.TotalHeader)
	}
	for _, p := range [][2]string{{"items", c.Items}, {"total", c.Total}} {
		if _, err := splice.ParsePointer(p[1]); err != nil {
			return fmt.Errorf("list: %s %s: %w", p[0], p[1], err)
		}
	}
	for _, check := range []func() error{c.checkSort, c.checkFilters, c.checkCursors, c.checkConditions, c.checkSend} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

var withoutSortPlaceholders = strings.NewReplacer("{field}", "", "{dir}", "")

func (c *Config) checkSort() error {
	if err := distinct("sort", c.Sort); err != nil {
		return err
	}
	for _, n := range c.Sort {
		if strings.HasPrefix(n.Name, "-") {
			return fmt.Errorf("list: sort %s: expected a name without - in front, which means descending", n.Name)
		}
	}
	s := c.Send
	switch {
	case s.SortFormat != "" && !strings.Contains(s.SortFormat, "{field}"):
		return fmt.Errorf("list: sort_format %s: expected {field} in it", s.SortFormat)
	case strings.ContainsAny(withoutSortPlaceholders.Replace(s.SortFormat), "{}"):
		return fmt.Errorf("list: sort_format %s: expected no placeholders but {field} and {dir}", s.SortFormat)
	case s.SortFormat != "" && s.Direction == "" && !strings.Contains(s.SortFormat, "{dir}"):
		return fmt.Errorf("list: sort_format %s: expected {dir} in it, or a parameter for the direction", s.SortFormat)
	case (s.Ascending != "" || s.Descending != "") && s.words()[0] == s.words()[1]:
		return fmt.Errorf("list: ascending %s, descending %s: expected two different words", s.Ascending, s.Descending)
	}
	return nil
}

// words are the upstream's for the two directions.
func (s Send) words() [2]string {
	return [2]string{cmp.Or(s.Ascending, "asc"), cmp.Or(s.Descending, "desc")}
}

func (c *Config) checkFilters() error {
	if err := distinct("states", c.States); err != nil {
		return err
	}
	names := make([]Name, 0, len(c.Filters))
	for _, f := range c.Filters {
		if len(f.Values) == 1 && slices.Contains([]string{"required", "optional"}, f.Values[0].Name) {
			return fmt.Errorf("list: filter %s: values [%s]: expected the values it may have; a filter is optional unless `required` is set", f.Name.Name, f.Values[0].Name)
		}
		if slices.Contains(reserved, f.Name.Name) {
			return fmt.Errorf("list: filter %s: expected another name than page, limit, sort and state, which every list has", f.Name.Name)
		}
		if f.Name.Name == "cursor" && c.ByCursor() {
			return errors.New("list: filter cursor: expected another name, since the list has a cursor")
		}
		if err := distinct("filter "+f.Name.Name, f.Values); err != nil {
			return err
		}
		names = append(names, f.Name)
	}
	return distinct("filters", names)
}

func distinct(word string, names []Name) error {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		switch {
		case n.Name == "":
			return fmt.Errorf("list: %s: expected a name", word)
		case seen[n.Name]:
			return fmt.Errorf("list: %s %s: it is declared twice", word, n.Name)
		}
		seen[n.Name] = true
	}
	return nil
}

// checkSend: two things under one name would overwrite each other.
func (c *Config) checkSend() error {
	s := c.Send
	if s.Page != "" && s.Offset != "" {
		return fmt.Errorf("list: send page %s, offset %s: expected one of them", s.Page, s.Offset)
	}
	for word, name := range map[string]string{"page": s.Page, "offset": s.Offset, "limit": s.Limit} {
		if name == "none" || name == "off" {
			return fmt.Errorf("list: send %s %s: expected the name of the API's parameter; where it has no pages, say paginate local", word, name)
		}
	}
	seen := make(map[string]string)
	for _, p := range c.parameters() {
		if was, ok := seen[p[1]]; ok {
			return fmt.Errorf("list: send %s %s: expected another name than that of %s", p[0], p[1], was)
		}
		seen[p[1]] = p[0]
	}
	return nil
}

// Parameters are the names of the upstream's parameters that a list may send.
func (c *Config) Parameters() []string {
	var names []string
	for _, p := range c.parameters() {
		names = append(names, p[1])
	}
	return names
}

// parameters are pairs of our word and the upstream's.
func (c *Config) parameters() (list [][2]string) {
	s := c.Send
	for _, cursor := range c.Cursors {
		list = append(list, [2]string{"cursor", cursor.Parameter})
	}
	if !c.Local() {
		if len(c.Cursors) > 0 {
			// The cursor takes the place of a number.
		} else if s.Offset != "" {
			list = append(list, [2]string{"offset", s.Offset})
		} else {
			list = append(list, [2]string{"page", cmp.Or(s.Page, "page")})
		}
		list = append(list, [2]string{"limit", cmp.Or(s.Limit, "limit")})
	}
	if len(c.Sort) > 0 {
		list = append(list, [2]string{"sort", cmp.Or(s.Sort, "sort")})
		if s.Direction != "" {
			list = append(list, [2]string{"direction", s.Direction})
		}
	}
	if len(c.States) > 0 {
		list = append(list, [2]string{"state", cmp.Or(s.State, "state")})
	}
	for _, f := range c.Filters {
		list = append(list, [2]string{"filter " + f.Name.Name, f.Their()})
	}
	return list
}
