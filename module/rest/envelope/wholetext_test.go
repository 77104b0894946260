package envelope

import (
	"strings"
	"testing"
)

func TestFailWhenMatchesTheWholeText(t *testing.T) {
	long := strings.Repeat("x", maxValue)
	for _, c := range []struct {
		name, op, values   string
		media, coding, got string
		fails              bool
	}{
		{"the word", "==", "Fails.", "text/plain", "", "Fails.", true},
		{"the word in white space", "==", "Fails.", "text/plain", "", " \r\nFails.\n", true},
		{"a number", "==", "0", "text/plain", "", "0\n", true},
		{"a number that is written differently", "==", "0", "text/plain", "", "0.0", true},
		{"a word that begins like JSON", "==", "[Fails", "text/plain", "", "[Fails", true},
		{"a word labelled JSON", "==", "Fails.", "application/json", "", "Fails.", true},
		{"without a label", "==", "Fails.", "", "", "Fails.", true},
		{"behind a BOM", "==", "Fails.", "text/plain", "", "\xef\xbb\xbfFails.", true},
		{"compressed", "==", "Fails.", "text/plain", "gzip", squeeze(t, "gzip", "Fails."), true},
		{"in GBK", "==", "失败", "text/plain; charset=gbk", "", gb("失败"), true},
		{"of a type that is not read", "!=", "Ok.", "text/csv", "", "Fails.", false},
		{"another word", "==", "Fails.", "text/plain", "", "fails.", false},
		{"a part of the text", "==", "Fails.", "text/plain", "", "Fails. Fails.", false},
		{"all but the word", "!=", "Ok.", "text/plain", "", "Fails.", true},
		{"the word alone", "!=", "Ok.", "text/plain", "", "Ok.", false},
		{"bytes that are no text", "!=", "Ok.", "text/plain", "", "\xff\xfe\xfd", true},
		{"a body that cannot be decompressed", "!=", "Ok.", "text/plain", "gzip", "Ok.", true},
		{"nothing", "empty", "", "text/plain", "", "", true},
		{"white space", "empty", "", "text/plain", "", "\n", true},
		{"something", "empty", "", "text/plain", "", ".", false},
		{"nothing is another word", "!=", "Ok.", "text/plain", "", "", true},
		{"at the bound", "==", long, "text/plain", "", long, true},
		{"beyond the bound", "!=", long, "text/plain", "", long + "x", true},
		{"beyond the bound, begun alike", "==", long, "text/plain", "", long + "x", false},
		{"the bound with white space behind it", "==", long, "text/plain", "", long + strings.Repeat(" ", maxBody-maxValue-1), true},
		{"more white space than is held", "==", "Ok.", "text/plain", "", "Ok." + strings.Repeat(" ", maxBody), false},
		{"more white space than is held, asked the other way", "!=", "Ok.", "text/plain", "", "Ok." + strings.Repeat(" ", maxBody), true},
		{"a page", "!=", "Ok.", "text/html", "", "<html>Ok.</html>", true},
		{"a page that is not the word", "==", "Ok.", "text/html", "", "<html>Ok.</html>", false},
		{"an object", "!=", "Ok.", "text/plain", "", `{"ok":"Ok."}`, true},
		{"a text in JSON", "==", "Fails.", "application/json", "", `"Fails."`, true},
	} {
		rule := FailWhen{Op: c.op, Status: 409}
		if c.values != "" {
			rule.Values = []string{c.values}
		}
		for _, size := range []int{1 << 20, 1} {
			if size == 1 && len(c.got) > 4*maxValue {
				continue
			}
			api := prepared(t, &Config{FailWhen: []FailWhen{rule}})
			rec := through(t, api, "POST", sliced(size, 200, map[string]string{"Content-Type": c.media, "Content-Encoding": c.coding}, c.got))
			if want := map[bool]int{true: 409, false: 200}[c.fails]; rec.Code != want || !c.fails && rec.Body.String() != c.got {
				t.Errorf("%s, in pieces of %d: %d %.100q, want %d", c.name, size, rec.Code, rec.Body, want)
			}
		}
	}
}

// TestFirstConditionAppliesToWordsToo, also where one behind it is known to hold earlier.
func TestFirstConditionAppliesToWordsToo(t *testing.T) {
	word := FailWhen{Op: "==", Values: []string{"Fails."}, Status: 409}
	header := FailWhen{Header: "X-Status", Op: "==", Values: []string{"1"}, Status: 410}
	for status, rules := range map[int][]FailWhen{409: {word, header, {NotJSON: true}}, 410: {header, word, {NotJSON: true}}, 502: {{NotJSON: true}, word, header}} {
		rec := through(t, prepared(t, &Config{FailWhen: rules}), "POST", sliced(3, 200, map[string]string{"Content-Type": "text/plain", "X-Status": "1"}, "Fails."))
		if rec.Code != status {
			t.Errorf("%d %s, want %d", rec.Code, rec.Body, status)
		}
	}
}
