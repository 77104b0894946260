//go:build !race

// 64 MiB are compressed and read again, which takes half a minute with -race:
// ./xcaddy.sh test runs tests of files like this without -race.

package translate

import (
	"strings"
	"testing"
)

// A creation whose id stands before more bytes than are read passes as it is.
func TestCompressedBombAsACreationPassesUnchanged(t *testing.T) {
	bomb := pack(t, "gzip", `{"id":5,"x":"`+strings.Repeat(" ", 64<<20)+`"}`)
	g := through(Config{Answer: answerTo(t, plainThings, "POST", "/things")}, 200, map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, bomb, 0)
	if g.Code != 201 || g.Body.String() != bomb {
		t.Errorf("a bomb as a creation: %d, %d bytes", g.Code, g.Body.Len())
	}
}
