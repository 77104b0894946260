package list

// Idle is the word of a parameter of the upstream's that would never be sent, and what it
// would need; "" for none.
func (c *Config) Idle() (word, why string) {
	s := c.Send
	const whole = "paginate local asks for the whole list, expected one of the two"
	for _, p := range []struct {
		name string
		sent bool
		why  string
	}{
		{"complete", c.Complete == nil || c.Local(), "expected paginate local, which takes the list for whole"},
		{"page", s.Page == "" || !c.Local(), whole},
		{"offset", s.Offset == "" || !c.Local(), whole},
		{"limit", s.Limit == "" || !c.Local(), whole},
		{"sort", s.Sort == "" || len(c.Sort) > 0, "expected fields to sort by"},
		{"direction", s.Direction == "" || len(c.Sort) > 0, "expected fields to sort by"},
		{"state", s.State == "" || len(c.States) > 0, "expected states to filter by"},
	} {
		if !p.sent {
			if p.name == "complete" {
				return "complete when", p.why
			}
			return "send " + p.name, p.why
		}
	}
	return "", ""
}
