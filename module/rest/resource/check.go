package resource

import (
	"fmt"
	"net/http"
)

// Check checks the declarations that need no other resource. Compiling the resource checks the rest.
func (r *Resource) Check() error {
	for _, check := range []func() error{r.checkOff, r.checkQuery, r.checkPass, r.checkWrap, r.checkFailWhen, r.checkXML} {
		if err := check(); err != nil {
			return err
		}
	}
	if _, err := Cookies(r.HeaderUp); err != nil {
		return err
	}
	if r.Created != nil && r.Created.Status != http.StatusCreated {
		return fmt.Errorf("created %d: expected 201", r.Created.Status)
	}
	if r.Deleted != 0 && r.Deleted != http.StatusNoContent {
		return fmt.Errorf("deleted %d: expected 204", r.Deleted)
	}
	if r.List != nil {
		return r.List.Check()
	}
	return nil
}

// Cookies checks header_up, and reports whether it lets Cookie through, the only field of clients that
// must be named to pass.
func Cookies(up []string) (bool, error) {
	for i, name := range up {
		switch {
		case http.CanonicalHeaderKey(name) != "Cookie":
			return false, fmt.Errorf("header_up: unexpected '%s', expected Cookie: other fields of the client's pass anyway", name)
		case i > 0:
			return false, fmt.Errorf("header_up: Cookie is given twice")
		}
	}
	return len(up) > 0, nil
}

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
