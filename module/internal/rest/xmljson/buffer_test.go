package xmljson

import "testing"

func TestTextHasTheSizeOfWhatIsWritten(t *testing.T) {
	const text = "0123456789"
	times := 0
	write := func(b *buffer) bool {
		times++
		b.put(text[:4])
		b.write([]byte(text[4:]))
		return true
	}
	if got, fits := buildSized(10, write); !fits || string(got) != text || cap(got) > 16 || times != 2 {
		t.Errorf("%v %q of %d, written %d times", fits, got, cap(got), times)
	}
	if got, fits := buildSized(9, write); fits || got != nil || times != 3 {
		t.Errorf("%v %q, written %d times", fits, got, times)
	}
	if got, fits := buildSized(10, func(*buffer) bool { return false }); fits || got != nil {
		t.Errorf("%v %q", fits, got)
	}
}
