package translate

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// A body may grow by no more than maxRatio when it is decompressed, once more than
// freeGrowth has come out: a bomb of a kilobyte must not keep us and the client busy
// with a gigabyte. Lists of JSON shrink to a twentieth, the most monotonous to a hundredth.
const (
	maxRatio   = 200
	freeGrowth = 1 << 20
)

// maxWindow bounds what a zstd frame may make us allocate; it is what readers of HTTP must
// be able to (RFC 9659).
const maxWindow = 8 << 20

// unpacker undoes a content coding as the body comes. Decompressors pull and the
// upstream's answer is pushed, so the decompressor runs as a coroutine that is resumed
// with each piece: there is one thread of control, and no lock.
type unpacker struct {
	to      func([]byte) error
	resume  func() (struct{}, bool)
	stop    func()
	pending []byte
	eof     bool
	in, out int64
	err     error
}

// decompressors are the known codings.
var decompressors = map[string]func(io.Reader) (io.ReadCloser, error){
	"gzip": openGzip, "x-gzip": openGzip,
	"deflate": func(r io.Reader) (io.ReadCloser, error) { // zlib by the standard, the bare format by custom
		var head [2]byte
		n, err := io.ReadFull(r, head[:])
		if err != nil {
			return nil, err
		}
		all := io.MultiReader(bytes.NewReader(head[:n]), r)
		if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 { // RFC 1950 section 2.2
			return zlib.NewReader(all)
		}
		return flate.NewReader(all), nil
	},
	"zstd": func(r io.Reader) (io.ReadCloser, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	},
}

func openGzip(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

// newUnpacker returns nil for a coding that is not known, such as several at once.
func newUnpacker(coding string, to func([]byte) error) *unpacker {
	open := decompressors[coding]
	if open == nil {
		return nil
	}
	u := &unpacker{to: to}
	u.resume, u.stop = iter.Pull(func(yield func(struct{}) bool) {
		var from io.ReadCloser
		if from, u.err = open(&waiting{u, yield}); u.err == nil {
			defer from.Close()
			_, u.err = io.Copy(writerOnly{u}, from)
		}
	})
	return u
}

// waiting is what the decompressor reads: it yields when there is nothing yet.
type waiting struct {
	u     *unpacker
	yield func(struct{}) bool
}

func (r *waiting) Read(p []byte) (int, error) {
	for len(r.u.pending) == 0 {
		if r.u.eof {
			return 0, io.EOF
		}
		if !r.yield(struct{}{}) {
			return 0, io.ErrUnexpectedEOF
		}
	}
	n := copy(p, r.u.pending)
	r.u.pending = r.u.pending[n:]
	r.u.in += int64(n)
	return n, nil
}

// Write is for the decompressor.
func (u *unpacker) Write(p []byte) (int, error) {
	u.out += int64(len(p))
	if u.out > freeGrowth && u.out/maxRatio > u.in {
		return 0, errBomb
	}
	if err := u.to(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (u *unpacker) write(p []byte) error {
	u.pending = p
	if _, more := u.resume(); more {
		return nil
	}
	if u.err != nil {
		return u.failure()
	}
	return nil // what follows the end of the compressed stream is nothing of ours
}

// close ends the compressed stream. A body without a single byte is empty, whatever its label says.
func (u *unpacker) close() error {
	if u.in == 0 {
		return nil
	}
	u.eof = true
	for {
		if _, more := u.resume(); !more {
			return u.failure()
		}
	}
}

func (u *unpacker) failure() error {
	switch {
	case u.err == nil:
		return nil
	case errors.Is(u.err, io.ErrUnexpectedEOF) || errors.Is(u.err, io.EOF):
		return &Failure{Incomplete, u.err}
	case ofCoding(u.err):
		return &Failure{Coding, u.err}
	}
	return u.err
}

func ofCoding(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) ||
		errors.Is(err, zlib.ErrDictionary) || errors.As(err, &corrupt) || errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, zstd.ErrWindowSizeExceeded) ||
		errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrCRCMismatch)
}
