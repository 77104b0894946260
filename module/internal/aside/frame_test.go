package aside

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFramesHaveALargestLength(t *testing.T) {
	var b bytes.Buffer
	if err := writeFrame(&b, 7, make([]byte, maxFrame)); err != nil {
		t.Fatal(err)
	}
	if n, body, err := readFrame(&b); n != 7 || len(body) != maxFrame || err != nil {
		t.Errorf("%d, %d bytes, %v", n, len(body), err)
	}
	if err := writeFrame(&b, 7, make([]byte, maxFrame+1)); err == nil || b.Len() > 0 {
		t.Errorf("%v, %d bytes written", err, b.Len())
	}
	if _, _, err := readFrame(strings.NewReader("\xff\xff\xff\xff\x00\x00\x00\x01x")); !errors.Is(err, errFrame) {
		t.Errorf("a frame of 4 GiB: %v", err) // and not only that its end is missing
	}
	for _, cut := range []string{"\x00", "\x00\x00\x00\x05\x00\x00\x00\x01x"} {
		if _, _, err := readFrame(strings.NewReader(cut)); err == nil || err == io.EOF {
			t.Errorf("%q: %v", cut, err)
		}
	}
}
