package password

import "testing"

// Each spelling that a directory takes for the same user and that has a count of its own
// is ten guesses more.
func TestNameSpellingsShareACount(t *testing.T) {
	for _, spelling := range []string{
		"ALICE", "Alice ", " alice", "ａｌｉｃｅ", "álice", "a\u0301lice", "alïcé", "al\u00adice", "al\u200bice", "alice\ufe0f", "\ufeffalice", "al\u2060ice",
	} {
		if got, want := accountKey(spelling), accountKey("alice"); got != want {
			t.Errorf("%+q is counted as %q", spelling, got)
		}
	}
	// The marks of other scripts tell words apart.
	for _, other := range []string{"alic", "al ice", "कि", "क", "か", "が"} {
		if accountKey(other) == accountKey("alice") || other == "कि" && accountKey(other) == accountKey("क") {
			t.Errorf("%q is counted with another name", other)
		}
	}
}
