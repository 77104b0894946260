package aside

import (
	"encoding/binary"
	"errors"
	"io"
)

// maxFrame bounds what is read at once on either side, in bytes. A longer request is
// worked on in the process that has it.
const maxFrame = 16 << 10

var errFrame = errors.New("a frame of a wrong length")

// A frame is its length, the number of the request it belongs to, and bytes. The number
// keeps an answer from being taken for that of another request, whatever went wrong before.
const frameHeader = 8

func writeFrame(w io.Writer, number uint32, body []byte) error {
	if len(body) > maxFrame {
		return errFrame
	}
	frame := make([]byte, 0, frameHeader+len(body))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(body)))
	frame = binary.BigEndian.AppendUint32(frame, number)
	_, err := w.Write(append(frame, body...))
	return err
}

func readFrame(r io.Reader) (number uint32, body []byte, err error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(header[:])
	if length > maxFrame {
		return 0, nil, errFrame
	}
	body = make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, err
	}
	return binary.BigEndian.Uint32(header[4:]), body, nil
}
