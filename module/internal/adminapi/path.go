package adminapi

import (
	"net/url"
	"strings"
)

// Base is the path prefix of the API.
const Base = "/gatehouse/"

// MaxPage is the most items of a page.
const MaxPage = 1000

// List is the body of a list. Next, if not empty, is the `after` of the following page.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// SecretFileHeader is the field of a backup's response that names the file of the store's own secret, percent-encoded. It
// is absent if the secret is in the configuration.
const SecretFileHeader = "Gatehouse-Secret-File"

// Compacted is the size of the store's data before and after its file was compacted, in bytes.
type Compacted struct {
	Before int64 `json:"bytes_before"`
	After  int64 `json:"bytes_after"`
}

// Path escapes names into a path. Dots alone would be taken for dot segments.
func Path(segments ...string) string {
	for i, s := range segments {
		s = url.PathEscape(s)
		if s == "." || s == ".." {
			s = strings.ReplaceAll(s, ".", "%2E")
		}
		segments[i] = s
	}
	return Base + strings.Join(segments, "/")
}
