package resource

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// mediaRange is a media type, or all of one kind (RFC 9110 section 12.5.1).
var mediaRange = regexp.MustCompile(`^[a-z]+/(\*|[a-z0-9][a-z0-9!#$&^_.+-]*)$`)

func (r *Resource) checkPass() error {
	for i, media := range r.Pass {
		switch {
		case !mediaRange.MatchString(media):
			return fmt.Errorf("pass %s: expected media types such as text/csv or image/*", media)
		case envelope.IsJSON(media):
			return fmt.Errorf("pass %s: expected other types than JSON, which is translated", media)
		case slices.Contains(r.Pass[:i], media):
			return fmt.Errorf("pass %s is given twice", media)
		}
	}
	return nil
}

// Passes reports whether an answer of this media type passes unchanged where JSON is declared.
func (r *Resource) Passes(media string) bool {
	if len(r.Pass) == 0 {
		return false
	}
	kind, _, _ := strings.Cut(media, "/")
	return slices.Contains(r.Pass, media) || slices.Contains(r.Pass, kind+"/*")
}
