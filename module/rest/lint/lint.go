package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Finding is a name that violates a convention.
type Finding struct {
	// Path is the first of the paths that contain it.
	Path string
	// Message says what the name is and what was expected.
	Message string
}

// maxDepth is the maximum number of nested collections in a path.
const maxDepth = 2

var (
	spelled = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	hump    = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// Check examines declared paths, without versions and with placeholders such as {id}. A word is
// reported once, for the first path that has it in the same place.
func Check(paths []string) (found []Finding) {
	collections := make(map[string]bool) // places that are followed by a placeholder
	for _, path := range paths {
		for _, s := range split(path) {
			if s.param {
				collections[s.above] = true
			}
		}
	}
	seen := make(map[string]bool)
	for _, path := range paths {
		depth, below := 0, true
		for _, s := range split(path) {
			if s.param {
				below = true
				continue
			}
			if below {
				depth, below = depth+1, false
			}
			if at := s.above + "/" + s.text; !seen[at] {
				seen[at] = true
				if message := judge(s.text, collections[at]); message != "" {
					found = append(found, Finding{path, message})
				}
				if depth == maxDepth+1 {
					found = append(found, Finding{path, fmt.Sprintf("'%s' is nested %d deep, expected at most %d: such resources have an address of their own", at, depth, maxDepth)})
				}
			}
		}
	}
	return found
}

type segment struct {
	text  string
	param bool
	above string // the path in front, with nameless placeholders
}

func split(path string) (all []segment) {
	above := ""
	for text := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		s := segment{text: text, param: strings.HasPrefix(text, "{"), above: above}
		all = append(all, s)
		if s.param {
			above += "/{}"
		} else {
			above += "/" + text
		}
	}
	return all
}

func judge(text string, collection bool) string {
	words := strings.FieldsFunc(strings.ToLower(hump.ReplaceAllString(text, "$1-$2")), func(c rune) bool { return strings.ContainsRune("-_.~", c) })
	if len(words) == 0 {
		return fmt.Sprintf("'%s' is no word, expected one in lower case", text)
	}
	last := words[len(words)-1]
	switch {
	case isVerb(words):
		return fmt.Sprintf("'%s' is a verb, expected a noun: the method says what is done", text)
	case !spelled.MatchString(text):
		return fmt.Sprintf("'%s' is written in another way, expected lower case with hyphens: %s", text, strings.Join(words, "-"))
	case collection && !isPlural(last):
		return fmt.Sprintf("'%s' has items and is no plural, expected one such as %s", text, strings.Join(append(slices.Clone(words[:len(words)-1]), plural(last)), "-"))
	}
	return ""
}
