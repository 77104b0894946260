package webui

import (
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func builtinTexts(t *testing.T, name string) texts {
	t.Helper()
	x, err := parseTexts(flat{}, name)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestEveryTextExistsInEveryLanguage(t *testing.T) {
	english := builtinTexts(t, "en.json")
	for _, lang := range builtinLanguages {
		other := builtinTexts(t, lang+".json")
		if err := other.checkTexts(english); err != nil {
			t.Errorf("%s: %v", lang, err)
		}
		for key, text := range english {
			want, got := blank.FindAllString(text, -1), blank.FindAllString(other[key], -1)
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s fills in %v, in English %v", lang, key, got, want)
			}
			if lang != "en" && other[key] == text {
				t.Errorf("%s: %s is not translated", lang, key)
			}
		}
	}
}

func TestEveryTextIsUsedAndUniqueInItsFile(t *testing.T) {
	var templates strings.Builder
	for _, page := range append([]string{"layout"}, pageNames...) {
		b, err := fs.ReadFile(flat{}, page+".html")
		if err != nil {
			t.Fatal(err)
		}
		templates.Write(b)
	}
	for _, name := range []string{"dot.go", "links.go"} { // texts with a blank of their own, and of other languages
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		templates.Write(source)
	}
	for key := range builtinTexts(t, "en.json") {
		if key != "html.lang" && !regexp.MustCompile(`^error\.\w+\.(heading|text)$|^account\.(done|place)\.\w+$|^confirm\.(confirmed|denied|wrong)\.(heading|text)$`).MatchString(key) &&
			!strings.Contains(templates.String(), `"`+key+`"`) {
			t.Errorf("%s is not used", key)
		}
	}
	for _, lang := range builtinLanguages {
		b, err := fs.ReadFile(flat{}, lang+".json")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(`(?m)^\t("[^"]+"):`).FindAllSubmatch(b, -1) {
			if seen[string(m[1])] {
				t.Errorf("%s: %s twice", lang, m[1])
			}
			seen[string(m[1])] = true
		}
		var x texts
		if err := json.Unmarshal(b, &x); err != nil || len(x) != len(seen) {
			t.Errorf("%s: %d keys seen of %d, %v", lang, len(seen), len(x), err)
		}
	}
}

func TestEveryErrorCodeHasAHeadingAndAText(t *testing.T) {
	source, err := os.ReadFile("views.go")
	if err != nil {
		t.Fatal(err)
	}
	_, doc, _ := strings.Cut(string(source), "// Code selects")
	doc, _, _ = strings.Cut(doc, "Code string")
	var documented []string
	for _, m := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(doc, -1) {
		documented = append(documented, m[1])
	}
	if len(documented) < 13 || !slices.Equal(documented, errorCodes) {
		t.Errorf("documented are %q, known %q", documented, errorCodes)
	}
	for _, lang := range builtinLanguages {
		x := builtinTexts(t, lang+".json")
		for _, code := range documented {
			if x["error."+code+".heading"] == "" || x["error."+code+".text"] == "" {
				t.Errorf("%s: %s has no heading or text", lang, code)
			}
		}
		for key := range x {
			if m := regexp.MustCompile(`^error\.(\w+)\.`).FindStringSubmatch(key); m != nil && !slices.Contains(documented, m[1]) {
				t.Errorf("%s: %s belongs to no code", lang, key)
			}
		}
	}
}

func TestEveryOutcomeOfTheAccountPageHasAText(t *testing.T) {
	for key := range builtinTexts(t, "en.json") {
		if done, ok := strings.CutPrefix(key, "account.done."); ok && !slices.Contains(accountDone, done) {
			t.Errorf("%s belongs to no outcome", key)
		}
	}
	if len(accountDone) != 4 {
		t.Error("another number of outcomes than the view documents")
	}
}

func TestChineseTextsUseChinesePunctuation(t *testing.T) {
	for key, text := range builtinTexts(t, "zh.json") {
		if regexp.MustCompile(`\p{Han}\s*[,.;?!]`).MatchString(text) {
			t.Errorf("%s: %s", key, text)
		}
	}
}
