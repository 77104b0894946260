package webui

import (
	"fmt"
	"math"
	"strconv"
)

// color is an sRGB colour.
type color struct{ r, g, b uint8 }

func (c color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

func parseColor(s string) (color, error) {
	n, err := strconv.ParseUint(s[min(1, len(s)):], 16, 32)
	if err != nil || len(s) != 7 || s[0] != '#' {
		return color{}, fmt.Errorf("webui: color %q is not of the form #rrggbb", s)
	}
	return color{uint8(n >> 16), uint8(n >> 8), uint8(n)}, nil
}

// luminance returns the relative luminance of WCAG 2.2.
func (c color) luminance() float64 {
	linear := func(v uint8) float64 {
		if s := float64(v) / 255; s > 0.04045 {
			return math.Pow((s+0.055)/1.055, 2.4)
		}
		return float64(v) / 255 / 12.92
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrastRatio returns the contrast ratio of WCAG 2.2, from 1 to 21.
func contrastRatio(a, b color) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func (c color) mixWith(to color, share float64) color {
	part := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-share) + float64(b)*share)) }
	return color{part(c.r, to.r), part(c.g, to.g), part(c.b, to.b)}
}

// The least favourable surface of each theme on which an accent appears; the test of the style sheet verifies
// that.
var (
	lightSurface = color{0xf6, 0xf7, 0xf9}
	darkSurface  = color{0x17, 0x1c, 0x24}
)

// fitAccents darkens one colour and lightens the other until each is readable as text in its
// theme; they can then also carry text in the colour of the surface. WCAG 1.4.3 requires 4.5 to
// 1; on dark ground a colour that barely reaches that looks dull.
func fitAccents(light, dark color) (forLight, forDark color) {
	return fitContrast(light, color{}, lightSurface, 4.5), fitContrast(dark, color{255, 255, 255}, darkSurface, 6)
}

func fitContrast(c, towards, surface color, ratio float64) color {
	const steps = 64
	for i := range steps + 1 {
		if m := c.mixWith(towards, float64(i)/steps); contrastRatio(m, surface) >= ratio {
			return m
		}
	}
	return towards
}
