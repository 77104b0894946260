package webui

import (
	"bytes"
	gray "image/color"
	"image/png"
	"strings"
	"testing"
)

func TestQRCodeIsBlackOnWhiteWithQuietZone(t *testing.T) {
	b, err := QRImage(testAddress)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	const quiet = 4 * 8 // modules of eight pixels
	size, dark := picture.Bounds().Dx(), 0
	if size != picture.Bounds().Dy() || size < 200 || size > 600 || len(b) > 4<<10 {
		t.Errorf("%d pixels, %d bytes", size, len(b))
	}
	for y := range size {
		for x := range size {
			c := gray.GrayModel.Convert(picture.At(x, y)).(gray.Gray).Y
			if c != 0 && c != 255 {
				t.Fatalf("grey %d", c)
			}
			if c == 0 {
				dark++
				if min(x, y, size-1-x, size-1-y) < quiet {
					t.Fatalf("dark at %d,%d in the quiet zone", x, y)
				}
			}
		}
	}
	if share := float64(dark) / float64(size*size); share < 0.2 || share > 0.5 {
		t.Errorf("%.2f of it is dark", share)
	}
}

func TestOverlongQRAddressIsAnError(t *testing.T) {
	if _, err := QRImage("https://" + strings.Repeat("x", 3000)); err == nil {
		t.Error("no error")
	}
}

func BenchmarkQRImage(b *testing.B) {
	for b.Loop() {
		if _, err := QRImage(testAddress); err != nil {
			b.Fatal(err)
		}
	}
}
