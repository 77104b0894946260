package translate

import (
	"strings"
	"testing"
)

// The cost of what stands inside a resource, beside BenchmarkAnItem: read out of a member that
// is dropped, which streams, and out of one that stays, which is copied.
func BenchmarkAnItemFromInside(b *testing.B) {
	text := `{"ok":true,"r":{"n":12345,"t":"A title of usual length","revisions":[{"user":"u-1001","slots":{"main":{"content":"` +
		strings.Repeat("Words and more words. ", 40) + `"}}}],"state":1,"ctime":1704096000}}`
	for name, drop := range map[string][]string{"dropped": {"revisions"}, "kept": nil} {
		b.Run(name, func(b *testing.B) {
			r := things
			r.Lift, r.Drop = map[string]string{"body": "/revisions/0/slots/main/content", "author": "/revisions/0/user"}, drop
			item(b, r, text)
		})
	}
}
