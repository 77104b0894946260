package webui

import (
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"strings"
	"testing"
)

// variables are the custom properties of one :root block.
func variables(t *testing.T, block string) map[string]string {
	t.Helper()
	v := map[string]string{}
	for _, m := range regexp.MustCompile(`--([\w-]+):\s*([^;}]+)`).FindAllStringSubmatch(block, -1) {
		v[m[1]] = strings.TrimSpace(m[2])
	}
	return v
}

func styleSheet(t *testing.T) (sheet, light, dark string) {
	t.Helper()
	b, err := fs.ReadFile(flat{}, "style.css")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`:root \{[^}]*\}`).FindAllString(string(b), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d :root blocks", len(blocks))
	}
	return string(b), blocks[0], blocks[1]
}

func TestEveryColourPairReachesAAInBothThemes(t *testing.T) {
	_, light, dark := styleSheet(t)
	pairs := []struct {
		front, back string
		ratio       float64
	}{
		// WCAG 1.4.3: text.
		{"text", "surface", 7}, {"text", "page", 7},
		{"muted", "surface", 4.5}, {"muted", "page", 4.5},
		{"accent", "surface", 4.5}, {"accent", "page", 4.5},
		{"on-accent", "accent", 4.5},
		{"alert-text", "alert-surface", 4.5}, {"alert-text", "surface", 4.5}, {"surface", "alert-text", 4.5}, {"caution-text", "caution-surface", 4.5},
		{"on-tile", "tile-0", 4.5}, {"on-tile", "tile-1", 4.5}, {"on-tile", "tile-2", 4.5},
		{"on-tile", "tile-3", 4.5}, {"on-tile", "tile-4", 4.5}, {"on-tile", "tile-5", 4.5}, {"surface", "text", 4.5}, {"text", "soft", 7}, {"good", "soft", 3},
		// WCAG 1.4.11: the check marks, edges of fields and buttons, the focus ring.
		{"good", "surface", 3}, {"edge", "surface", 3}, {"edge", "page", 3}, {"alert-line", "surface", 3}, {"alert-line", "alert-surface", 3}, {"caution-line", "surface", 3},
	}
	for _, accent := range accents() {
		for theme, block := range map[string]string{"light": light, "dark": dark} {
			v := variables(t, block)
			c, err := parseColor(accent)
			if err != nil {
				t.Fatal(err)
			}
			l, d := fitAccents(c, c)
			if want := "var(--accent-" + theme + ")"; v["accent"] != want {
				t.Fatalf("%s: accent is %s", theme, v["accent"])
			}
			v["accent"] = map[string]string{"light": l.String(), "dark": d.String()}[theme]
			// The tile of the number: --soft mixes 9% of the accent into the surface.
			surface, _ := parseColor(v["surface"])
			accent, _ := parseColor(v["accent"])
			v["soft"] = surface.mixWith(accent, 0.09).String()
			for _, p := range pairs {
				front, err1 := parseColor(v[p.front])
				back, err2 := parseColor(v[p.back])
				if err1 != nil || err2 != nil {
					t.Fatalf("%s: %s on %s: %v %v", theme, p.front, p.back, err1, err2)
				}
				if got := contrastRatio(front, back); got < p.ratio {
					t.Errorf("%s, accent %s: %s %s on %s %s is %.2f, not %.1f", theme, accent, p.front, front, p.back, back, got, p.ratio)
				}
			}
		}
	}
}

// accents are the default and a grid over all colours an operator may choose.
func accents() []string {
	list := []string{defaultColor}
	for r := 0; r < 256; r += 51 {
		for g := 0; g < 256; g += 51 {
			for b := 0; b < 256; b += 51 {
				list = append(list, fmt.Sprintf("#%02x%02x%02x", r, g, b))
			}
		}
	}
	return list
}

func TestAccentContrastUsesTheStyleSheetsSurfaces(t *testing.T) {
	_, light, dark := styleSheet(t)
	if sheet, _, _ := styleSheet(t); !strings.Contains(sheet, "--soft: color-mix(in srgb, var(--accent) 9%, var(--surface))") {
		t.Error("--soft is mixed in another way than the contrast is reckoned with")
	}
	if got := variables(t, light)["page"]; got != lightSurface.String() {
		t.Errorf("light page %s", got)
	}
	if got := variables(t, dark)["surface"]; got != darkSurface.String() {
		t.Errorf("dark surface %s", got)
	}
}

func TestColoursAppearOnlyInCustomProperties(t *testing.T) {
	sheet, light, dark := styleSheet(t)
	rest := strings.Replace(strings.Replace(sheet, light, "", 1), dark, "", 1)
	if m := regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|\b(rgb|hsl|oklch)a?\(|:\s*(white|black|red|gray)\b`).FindString(rest); m != "" {
		t.Errorf("%s escapes the test of contrast", m)
	}
	for name := range variables(t, light) {
		if !strings.Contains(rest, "var(--"+name+")") {
			t.Errorf("--%s is not used", name)
		}
		if name != "accent" && variables(t, dark)[name] == variables(t, light)[name] {
			t.Errorf("--%s is the same in the dark", name)
		}
	}
}

func TestTargetsAreLargeAndFocusIsVisible(t *testing.T) {
	sheet, _, _ := styleSheet(t)
	if n := strings.Count(sheet, "min-height: 3rem"); n != 2 { // WCAG 2.5.8 asks for 24 px: fields and buttons
		t.Errorf("%d kinds of targets have a height", n)
	}
	if !strings.Contains(sheet, ":focus-visible { outline: 3px solid var(--accent)") || regexp.MustCompile(`outline:\s*(0|none)`).MatchString(sheet) {
		t.Error("the focus is not visible") // WCAG 2.4.7, 2.4.13
	}
}

func TestContrastFollowsWCAG(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#ffffff", "#ffffff", 1}, {"#767676", "#ffffff", 4.54}, {"#ff0000", "#ffffff", 4.00}} {
		a, _ := parseColor(c.a)
		b, _ := parseColor(c.b)
		if got := contrastRatio(a, b); math.Abs(got-c.want) > 0.005 || got != contrastRatio(b, a) {
			t.Errorf("%s on %s is %.3f", c.a, c.b, got)
		}
	}
}

func TestColourIsSixHexDigits(t *testing.T) {
	for _, s := range []string{"#fff", "1f5a8c", "#1f5a8", "#1f5a8cc", "#gggggg", "red", "#", "#+12345", "#1_2345", "#12345}"} {
		if _, err := New(Config{Color: s}); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
	for _, s := range []string{"#fff", "blue"} {
		if _, err := New(Config{ColorDark: s}); err == nil {
			t.Errorf("%q was accepted for the dark theme", s)
		}
	}
	p := newPages(t, Config{Color: "#A01060"})
	if !strings.Contains(string(p.style), "--accent-light:#a01060;") {
		t.Error("a dark enough accent was changed")
	}
}

func TestDarkThemeHasItsOwnAccent(t *testing.T) { // S14
	for _, c := range []struct{ color, dark, want string }{
		{"", "", ";--accent-dark:" + defaultColorDark + "}"},
		{"#a01060", "#ff9ecb", "--accent-light:#a01060;--accent-dark:#ff9ecb}"},
		{"", "#ff9ecb", "--accent-light:" + defaultColor + ";--accent-dark:#ff9ecb}"},
	} {
		if p := newPages(t, Config{Color: c.color, ColorDark: c.dark}); !strings.Contains(string(p.style), c.want) {
			t.Errorf("%q %q: not %s in %.120s", c.color, c.dark, c.want, p.style)
		}
	}
	// Without one, the accent is lightened until it can be read.
	one, both := newPages(t, Config{Color: "#a01060"}), newPages(t, Config{Color: "#a01060", ColorDark: "#a01060"})
	if one.style != both.style {
		t.Error("the accent of the dark theme is not made of the other")
	}
}
