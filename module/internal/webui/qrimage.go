package webui

import (
	"fmt"

	"rsc.io/qr"
)

// QRImage returns a PNG of text as a QR code: black on white in every theme, since many readers refuse inverted
// codes, with the quiet zone of four modules that ISO/IEC 18004 requires. Level M tolerates a reflection on a
// screen, and its modules are large enough for an old camera.
func QRImage(text string) ([]byte, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("webui: qr code: %w", err)
	}
	return code.PNG(), nil
}
