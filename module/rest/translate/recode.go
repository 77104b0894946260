package translate

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/transform"
)

// recoder makes UTF-8 of a body as it comes.
type recoder struct {
	to func([]byte) error
	w  *transform.Writer
}

// newRecoder returns nil for a body that is UTF-8.
func newRecoder(charset string, to func([]byte) error) *recoder {
	var from encoding.Encoding
	switch charset {
	case "gb18030":
		from = simplifiedchinese.GB18030
	case "windows-1252":
		from = charmap.Windows1252
	default:
		return nil
	}
	r := &recoder{to: to}
	r.w = transform.NewWriter(r, from.NewDecoder())
	return r
}

// Write is for the transformation.
func (r *recoder) Write(p []byte) (int, error) {
	if err := r.to(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (r *recoder) write(p []byte) error {
	_, err := r.w.Write(p)
	return err
}

func (r *recoder) close() error { return r.w.Close() }
