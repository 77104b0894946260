package supply

// longestName bounds the names of a configuration that have dots in them, in bytes.
const longestName = 100

// HasAround reports whether an upstream could read a client's member as a part of one of these: to Mongoose and Icinga
// `meta.role` is the role inside meta.
func (n Names) HasAround(member string) bool {
	if len(n) == 0 {
		return false
	}
	for i := range min(len(member), longestName+1) {
		if member[i] == '.' && n.Has(member[:i]) {
			return true
		}
	}
	return false
}

// HasInside reports whether an upstream could read one of these as a part of a client's member: `meta.role` as the
// role inside meta.
func (n Names) HasInside(member string) bool { return len(n) > 0 && n[plainName(member)+"."] }

// noteAround notes the members that a name has dots behind.
func (n Names) noteAround(name string) {
	for i, c := range name {
		if c == '.' && plainName(name[:i]) != "" {
			n[plainName(name[:i])+"."] = true
		}
	}
}
