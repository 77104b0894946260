package harness

import "strings"

// Spellings are names of fields that some servers take for a name: to PHP a dot is an underscore, and to lighttpd
// each character that is no letter and no digit. They have all characters that HTTP allows in a name.
func Spellings(name string) (all []string) {
	for _, c := range "!#$%&'*+.^_`|~" {
		all = append(all, strings.ReplaceAll(name, "-", string(c)), strings.Replace(name, "-", string(c), 1))
	}
	return all
}

// Variable is the name that an API behind lighttpd gets a field by. No other known server gives as many names to one variable.
func Variable(field string) string {
	return "HTTP_" + strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z':
			return c - 'a' + 'A'
		case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			return c
		}
		return '_'
	}, field)
}
