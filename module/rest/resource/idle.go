package resource

import "fmt"

// IdleError reports a configuration word of a resource that has no effect. Whoever wrote it relies on
// it, so it is an error.
type IdleError struct {
	Resource, Word string // of several upstreams the word is with method and path: `upstream GET /things`
	Part           string // of what the word has in its block; may be empty
	Why            string
}

func (e *IdleError) Error() string {
	word := e.Word
	if e.Part != "" {
		word += ": " + e.Part
	}
	return fmt.Sprintf("resource %s: %s does nothing here: %s", e.Resource, word, e.Why)
}
