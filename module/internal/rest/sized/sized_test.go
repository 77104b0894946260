package sized

import "testing"

func TestBodyHasTheSizeOfWhatIsWritten(t *testing.T) {
	const text = "0123456789"
	times := 0
	write := func(b *Buffer) bool {
		times++
		b.Put(text[:4])
		n, err := b.Write([]byte(text[4:]))
		return n == 6 && err == nil && b.Len() == 10
	}
	if body, fits := Build(10, write); !fits || string(body) != text || cap(body) > 16 || times != 2 {
		t.Errorf("%v %q of %d, written %d times", fits, body, cap(body), times)
	}
	if body, fits := Build(9, write); fits || body != nil || times != 3 {
		t.Errorf("%v %q, written %d times", fits, body, times)
	}
	if body, fits := Build(10, func(*Buffer) bool { return false }); fits || body != nil {
		t.Errorf("%v %q", fits, body)
	}
}
