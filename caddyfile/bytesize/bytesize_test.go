package bytesize

import "testing"

func TestSizesAreParsed(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "512KiB": 512 << 10, "256MiB": 256 << 20, "2gib": 2 << 30, "2GB": 2e9, "10b": 10} {
		if n, ok := Parse(text); !ok || n != want {
			t.Errorf("%s is %d, want %d", text, n, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5MiB", "MiB", "1TiB", "1 MiB", "999999999999999GiB"} {
		if n, ok := Parse(text); ok {
			t.Errorf("%q is %d", text, n)
		}
	}
}
