package crossdevice

import (
	"strings"
	"testing"
)

// The bytes of a random source do not divide evenly by 20: taken as they are, the last four
// letters would come a fifteenth more seldom than the others.
func TestUserCodeLettersAreUniform(t *testing.T) {
	const n = 400_000
	drawn := randomText(letters, n)
	last := 0
	for _, letter := range letters[16:] {
		last += strings.Count(drawn, string(letter))
	}
	if last < n/5-n/160 || last > n/5+n/160 { // ten standard deviations
		t.Errorf("the last four letters came %d times of %d", last, n)
	}
}
