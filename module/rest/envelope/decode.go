package envelope

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a zstd frame can make the gateway allocate; it is the size
// that HTTP recipients must support (RFC 9659).
const maxWindow = 8 << 20

// decompress decodes one content coding, even of a truncated body, and returns at most maxBody
// bytes, which also bounds the cost of a decompression bomb. cut reports that there was more. It
// fails for unknown codings and for several at once.
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
