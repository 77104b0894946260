package envelope

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// maxWindow bounds what a zstd frame may make us allocate.
const maxWindow = 1 << 20

// decompress undoes one content coding, also of a body that was cut, and gives at
// most maxBody bytes: a bomb costs no more than that. cut says there was more. It
// fails for codings it does not know and for several at once.
func decompress(coding []string, raw []byte) (plain []byte, cut, ok bool) {
	var from io.Reader
	var err error
	switch strings.ToLower(strings.TrimSpace(strings.Join(coding, ","))) {
	case "", "identity":
		return raw, false, true
	case "gzip", "x-gzip":
		from, err = gzip.NewReader(bytes.NewReader(raw))
	case "deflate": // zlib by the standard, the bare format by custom
		if from, err = zlib.NewReader(bytes.NewReader(raw)); err != nil {
			from, err = flate.NewReader(bytes.NewReader(raw)), nil
		}
	case "zstd":
		var d *zstd.Decoder
		d, err = zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
		if err == nil {
			defer d.Close()
			from = d
		}
	default:
		return nil, false, false
	}
	if err != nil {
		return nil, false, false
	}
	plain, err = io.ReadAll(io.LimitReader(from, maxBody+1))
	if len(plain) > maxBody {
		return plain[:maxBody], true, true
	}
	return plain, err != nil, err == nil || len(plain) > 0
}

var bom = []byte("\xef\xbb\xbf")

// toUTF8 reads UTF-8, the Chinese GB encodings and Latin-1. A text that is not in
// the UTF-8 it claims, or claims nothing, is tried as GB18030.
func toUTF8(text []byte, charset string, cut bool) ([]byte, bool) {
	switch strings.ToLower(charset) {
	case "gbk", "gb2312", "gb18030", "x-gbk", "cp936":
		return fromGB(text, cut)
	case "iso-8859-1", "latin1", "windows-1252":
		if utf8.Valid(text) {
			return text, true
		}
		out, err := charmap.Windows1252.NewDecoder().Bytes(text)
		return out, err == nil
	case "", "utf-8", "utf8", "us-ascii":
		text = bytes.TrimPrefix(text, bom)
		if cut {
			text = wholeRunes(text)
		}
		if utf8.Valid(text) {
			return text, true
		}
		return fromGB(text, cut)
	}
	return nil, false
}

func fromGB(text []byte, cut bool) ([]byte, bool) {
	out, err := simplifiedchinese.GB18030.NewDecoder().Bytes(text)
	if err != nil {
		return nil, false
	}
	if cut {
		out = bytes.TrimSuffix(out, []byte("\uFFFD"))
	}
	return out, !bytes.Contains(out, []byte("\uFFFD"))
}

// wholeRunes drops a character that the cut went through.
func wholeRunes(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-n:]) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}
