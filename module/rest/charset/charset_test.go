package charset

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func find(t testing.TB, name string) *Charset {
	t.Helper()
	if name == "" {
		return nil
	}
	c, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// in is a text in a charset.
func in(t testing.TB, name, text string) string {
	t.Helper()
	s, ok := find(t, name).Encode(text)
	if !ok {
		t.Fatalf("%q has no form in %s", text, name)
	}
	return s
}

// piecewise decodes a text as a stream: the first begin bytes at once, the rest in pieces.
func piecewise(r Reading, text []byte, begin, size int) (string, error) {
	var w Writer
	var b bytes.Buffer
	begin = min(begin, len(text))
	first, err := w.Begin(r, text[:begin], begin == len(text))
	b.Write(first)
	w.To(&b)
	for rest := text[begin:]; len(rest) > 0 && err == nil; {
		n := min(size, len(rest))
		_, err = w.Write(rest[:n])
		rest = rest[n:]
	}
	if err == nil {
		err = w.Close()
	}
	return b.String(), err
}

func TestTextIsDecodedByLabelAndConfiguration(t *testing.T) {
	for _, c := range []struct {
		name, label, named, text string
		want                     string // "" for an error
	}{
		{"UTF-8 that says so", "UTF-8", "", "文章", "文章"},
		{"UTF-8 that says nothing", "", "", "文章", "文章"},
		{"UTF-8 that says ASCII", "us-ascii", "", "文章", "文章"},
		{"UTF-8 labelled Latin-1", "ISO-8859-1", "", "文章", "文章"},
		{"UTF-8 where another is configured", "", "gb18030", "文章", "文章"},
		{"UTF-8 with a label that nobody knows", "utf8mb4", "", "文章", "文章"},
		{"behind a byte order mark", "", "", "\ufeff文章", "文章"},
		{"Latin-1 that says so", "latin1", "", in(t, "latin1", "Füße €"), "Füße €"},
		{"Latin-1 that says nothing", "", "", in(t, "latin1", "Müller"), ""},
		{"Latin-1 that is configured", "", "iso-8859-1", in(t, "latin1", "Müller"), "Müller"},
		{"Latin-1 labelled UTF-8", "utf-8", "", in(t, "latin1", "Müller"), ""},
		{"Latin-1 labelled UTF-8, and configured", "utf-8", "latin1", in(t, "latin1", "Müller"), "Müller"},
		{"Latin-1 with an unknown label", "latin-99", "", in(t, "latin1", "Müller"), ""},
		{"a byte that windows-1252 does not have", "latin1", "", "a\x81b", ""},
		{"GB that says so", "gb2312", "", in(t, "gbk", "文章嘰"), "文章嘰"},
		{"GB that says nothing", "", "", in(t, "gbk", "文章嘰"), ""},
		{"GB that is configured", "", "gbk", in(t, "gbk", "文章嘰"), "文章嘰"},
		{"GB behind a byte order mark", "", "gbk", "\ufeff" + in(t, "gbk", "文章嘰"), "文章嘰"},
		{"GB of four bytes", "gb18030", "", in(t, "gb18030", "😀ü"), "😀ü"},
		{"GB that is UTF-8 by chance, and says so", "GBK", "", "\xd2\xbb", "一"},
		{"Shift_JIS that says so", "Shift_JIS", "", in(t, "shift_jis", "日本語ソ"), "日本語ソ"},
		{"Shift_JIS that is configured", "", "shift_jis", in(t, "shift_jis", "日本語ソ"), "日本語ソ"},
		{"a label goes before the configuration", "shift_jis", "gbk", in(t, "shift_jis", "日本語"), "日本語"},
		{"Cyrillic", "koi8-r", "", in(t, "koi8-r", "её"), "её"},
		{"UTF-16 that says so", "utf-16le", "", in(t, "utf-16le", "Müller"), "Müller"},
		{"UTF-16 that is configured", "", "utf-16be", in(t, "utf-16be", "Müller 日"), "Müller 日"},
		{"ISO-2022-JP that is configured", "", "iso-2022-jp", in(t, "iso-2022-jp", "日本語"), "日本語"},
		{"UTF-8 that says so where ISO-2022-JP is configured", "utf-8", "iso-2022-jp", "日本語", "日本語"},
		{"EBCDIC", "ibm037", "", in(t, "ibm037", "Muller"), "Muller"},
		{"a stray byte", "", "", "abc\xff", ""},
		{"a stray byte that says UTF-8", "utf-8", "", "abc\xff", ""},
		{"a stray byte where GB is configured", "", "gb18030", "abc\xff", ""},
		{"half a character", "", "", "ab\xe6\x96", ""},
		{"half a character of GB", "gbk", "", "ab\xce", ""},
	} {
		r := Read(c.label, find(t, c.named))
		for _, begin := range []int{0, 1, 2, 3, 5, 100} {
			for _, size := range []int{1, 2, 3, 100} {
				got, err := piecewise(r, []byte(c.text), begin, size)
				if begin < 100 && c.named != "" && err != nil {
					continue // a few bytes may be UTF-8 by chance: an error, and nothing worse
				}
				if begin < 3 && strings.HasPrefix(c.text, "\ufeff") {
					continue // who begins looks for a byte order mark
				}
				if (err != nil) != (c.want == "") || err == nil && got != c.want || err != nil && !errors.Is(err, ErrText) {
					t.Errorf("%s, begun with %d, in pieces of %d: %q %v", c.name, begin, size, got, err)
				}
			}
		}
		if text, ok := r.Text([]byte(c.text), false); ok != (c.want != "") || ok && string(text) != c.want {
			t.Errorf("%s: %q %v", c.name, text, ok)
		}
	}
}

func TestUnknownCharsetIsRefusedByName(t *testing.T) {
	for _, name := range []string{"", "latin-99", "utf-7", "iso-2022-kr"} {
		if c, err := Find(name); err == nil || c != nil || !strings.Contains(err.Error(), "'"+name+"'") {
			t.Errorf("%s: %v %v", name, c, err)
		}
	}
	for _, name := range []string{"UTF-8", "ascii", "Latin1", "ISO-8859-15", "windows-1251", "Shift_JIS", "euc-jp", "euc-kr", "big5", "gb18030", "hz-gb-2312", "ibm037", "utf-16", "koi8-u"} {
		if _, err := Find(name); err != nil {
			t.Error(err)
		}
	}
}

func TestMultibyteCharsets(t *testing.T) {
	for name, want := range map[string]bool{
		"": false, "latin1": false, "windows-1251": false, "windows-874": false, "koi8-r": false, "euc-jp": true, "euc-kr": true,
		"shift_jis": true, "sjis": true, "gbk": true, "gb2312": true, "gb18030": true, "big5": true, "utf-16le": true,
	} {
		if got := find(t, name).IsMultibyte(); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestUnencodableTextIsRefused(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		ok               bool
	}{
		{"latin1", "Müller", "M\xfcller", true}, {"latin1", "日", "", false}, {"utf-8", "日", "日", true},
		{"shift_jis", "日", "\x93\xfa", true}, {"shift_jis", "한", "", false}, {"utf-16le", "a", "a\x00", true},
	} {
		if got, ok := find(t, c.name).Encode(c.text); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %q %v", c.name, got, ok)
		} else if back, same := find(t, c.name).Decode(got); ok && (!same || back != c.text) {
			t.Errorf("%s: %q %v", c.name, back, same)
		}
	}
	if _, ok := find(t, "latin1").Decode("a\x81"); ok {
		t.Error("a byte that windows-1252 does not have is decoded")
	}
}

func TestTruncatedCharacterDoesNotAffectTheRest(t *testing.T) {
	const text = "ab文😀ü"
	for _, c := range []struct{ label, whole string }{{"", text}, {"latin1", text}, {"gbk", in(t, "gb18030", text)}} {
		for n := range len(c.whole) + 1 {
			if read, ok := Read(c.label, nil).Text([]byte(c.whole[:n]), true); !ok || !strings.HasPrefix(text, string(read)) {
				t.Errorf("%q: of %d bytes %q %v", c.label, n, read, ok)
			}
		}
	}
}

// What is read as UTF-8 is not changed, whatever else the configuration names, and in any
// pieces: text is decoded to one thing, or not at all.
func FuzzUTF8TextIsNeverChanged(f *testing.F) {
	names := []string{"", "latin1", "windows-1251", "shift_jis", "euc-jp", "euc-kr", "big5", "gb18030", "koi8-r", "iso-8859-15"}
	for i, text := range []string{"", "文章", "её", "ab\xff", "M\xfcller", "\xd2\xbb{}", "\ufeffä", "a\ufffdb"} {
		for _, label := range []string{"", "utf-8", "iso-8859-1", "none"} {
			f.Add(label, uint8(i), []byte(text), uint8(2), uint16(3))
		}
	}
	f.Fuzz(func(t *testing.T, label string, name uint8, text []byte, size uint8, begin uint16) {
		r := Read(label, find(t, names[int(name)%len(names)]))
		if r.obeyed != nil {
			return // its label says that it is something else
		}
		want := strings.TrimPrefix(string(text), "\ufeff")
		whole, ok := r.Text(text, false)
		if utf8.ValidString(want) && (!ok || string(whole) != want) {
			t.Fatalf("%q was read as %q %v", text, whole, ok)
		}
		if ok && !utf8.Valid(whole) {
			t.Fatalf("%q became %q, which is not UTF-8", text, whole)
		}
		if len(text) > 2 && begin < 3 {
			begin = 3 // where a byte order mark is known
		}
		got, err := piecewise(r, text, int(begin), int(size)%7+1)
		if utf8.ValidString(want) && (err != nil || got != want) {
			t.Fatalf("in pieces %q was read as %q: %v", text, got, err)
		}
		if err == nil && !utf8.ValidString(got) {
			t.Fatalf("in pieces %q became %q, which is not UTF-8", text, got)
		}
	})
}
