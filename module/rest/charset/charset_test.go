package charset

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
)

func gb(t testing.TB, text string) string {
	t.Helper()
	s, err := simplifiedchinese.GB18030.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func latin(t testing.TB, text string) string {
	t.Helper()
	s, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestATextIsInWhatItsBytesAllow(t *testing.T) {
	for _, c := range []struct {
		name, label, text string
		want              Charset
		read              string // "" where nothing is
	}{
		{"UTF-8 that says so", "UTF-8", "文章", UTF8, "文章"},
		{"UTF-8 that says nothing", "", "文章", UTF8, "文章"},
		{"UTF-8 that says ASCII", "us-ascii", "文章", UTF8, "文章"},
		{"UTF-8 labelled Latin-1", "ISO-8859-1", "文章", UTF8, "文章"},
		{"GB that says so", "gb2312", gb(t, "文章嘰"), GB18030, "文章嘰"},
		{"GB that says nothing", "", gb(t, "文章嘰"), GB18030, "文章嘰"},
		{"GB labelled UTF-8", "utf-8", gb(t, "文章嘰"), GB18030, "文章嘰"},
		{"GB of four bytes", "gb18030", gb(t, "😀ü"), GB18030, "😀ü"},
		{"GB that is UTF-8 by chance, and says so", "GBK", gb(t, "联通"), GB18030, "联通"},
		{"Latin-1 that says so", "latin1", latin(t, "Füße €"), Latin1, "Füße €"},
		{"a byte that Latin-1 of the web does not have", "latin1", "a\x81b", Latin1, "a\uFFFDb"},
		{"neither UTF-8 nor GB", "utf-8", "x\xff\xff", Unknown, ""},
		{"neither, and nothing is said", "", "x\xff\xff", Unknown, ""},
		{"a label that nobody knows", "ebcdic", "x", Unknown, ""},
		{"nothing", "", "", UTF8, ""},
	} {
		got := Of(c.label, []byte(c.text), false)
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if text, ok := got.Decode([]byte(c.text), false); ok != (c.want != Unknown) || ok && string(text) != c.read {
			t.Errorf("%s: %q %v", c.name, text, ok)
		}
		if c.want == Unknown {
			c.read = c.text
		}
		for _, size := range []int{1, 2, 3, 100} {
			var b bytes.Buffer
			w := got.Writer(&b)
			for rest := []byte(c.text); len(rest) > 0; {
				n := min(size, len(rest))
				if _, err := w.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.Close(); err != nil || b.String() != c.read {
				t.Errorf("%s in pieces of %d: %v %q", c.name, size, err, b.String())
			}
		}
	}
}

func TestACutThroughACharacterSaysNothingOfTheRest(t *testing.T) {
	const text = "ab文😀ü"
	for _, c := range []struct {
		label string
		whole string
		want  Charset
	}{{"", text, UTF8}, {"latin1", text, UTF8}, {"utf-8", gb(t, text), GB18030}, {"gbk", gb(t, text), GB18030}} {
		for n := 3; n <= len(c.whole); n++ {
			part := []byte(c.whole[:n])
			got := Of(c.label, part, true)
			read, ok := got.Decode(part, true)
			if c.want == GB18030 && got == UTF8 && string(read) == "ab" {
				continue // so far there is nothing else
			}
			if got != c.want || !ok || !strings.HasPrefix(text, string(read)) {
				t.Errorf("%q: %d of %d bytes are %d %q %v", c.label, n, len(c.whole), got, read, ok)
			}
		}
	}
	if _, ok := UTF8.Decode([]byte("ab文")[:4], false); ok {
		t.Error("half a character is whole")
	}
	if got := Of("", []byte("ab\xe6"), false); got == UTF8 {
		t.Error("half a character at the end is UTF-8")
	}
}

// Read in pieces, cut anywhere, a text is what it is as a whole.
func FuzzTextsOfAnyLabel(f *testing.F) {
	for _, text := range []string{"", "文章", gb(f, "文章😀嘰"), "ab\xff", "\xce\xc4\x81\x30\x81\x30", latin(f, "Füße")} {
		for _, label := range []string{"", "utf-8", "GBK", "iso-8859-1", "ebcdic"} {
			f.Add(label, []byte(text), uint8(3), uint16(4))
		}
	}
	f.Fuzz(func(t *testing.T, label string, text []byte, size uint8, at uint16) {
		in := Of(label, text, false)
		whole, ok := in.Decode(text, false)
		if ok != (in != Unknown) && in != GB18030 {
			t.Fatalf("%q is %d and cannot be read", text, in)
		}
		var b bytes.Buffer
		w := in.Writer(&b)
		for rest := text; len(rest) > 0; {
			n := min(int(size)%7+1, len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil || ok && !bytes.Equal(b.Bytes(), whole) {
			t.Fatalf("%v: in pieces %q is %q, and %q as a whole", err, text, b.Bytes(), whole)
		}
		part := text[:min(int(at), len(text))]
		if cut, fits := in.Decode(part, true); ok && (!fits || !bytes.HasPrefix(whole, cut)) {
			t.Fatalf("%q of %q is %q %v", part, text, cut, fits)
		}
		if in == UTF8 && ok {
			if again := Of(label, part, true); again != UTF8 {
				t.Fatalf("%q is UTF-8, and its beginning %q is %d", text, part, again)
			}
		}
	})
}
