package list

import "cmp"

// Numbers are the names of the upstream's parameters whose values are whole numbers: of the page
// or the elements in front of it, and of the elements on it.
func (c *Config) Numbers() []string {
	s := c.Send
	return []string{cmp.Or(s.Offset, s.Page, "page"), cmp.Or(s.Limit, "limit")}
}
