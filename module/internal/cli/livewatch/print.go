package livewatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/watch"
)

// Printer prints decisions as they come, as text or as lines of JSON, and notices elsewhere.
type Printer struct {
	Summary

	Out, Notices io.Writer
	JSON         bool
	Connected    bool                // whether the stream ever began
	Address      string              // of the gateway
	Neutralize   func(string) string // replaces what a terminal would obey
}

// Started implements [Sink].
func (p *Printer) Started(again bool) {
	if p.Connected = true; again {
		fmt.Fprintln(p.Notices, "The configuration was loaded anew; reconnected. Decisions in between are not shown.")
		return
	}
	fmt.Fprintf(p.Notices, "Watching the gateway at %s. Ctrl-C ends it.\n", p.Address)
}

// Lost implements [Sink].
func (p *Printer) Lost(n int64) {
	p.Summary.lost += n
	if p.JSON {
		p.line(watch.Line{Lost: n})
		return
	}
	fmt.Fprintf(p.Notices, "%d decisions were lost: they came faster than they could be shown. Filters help.\n", n)
}

// Decided implements [Sink].
func (p *Printer) Decided(d *watch.Decision) {
	p.add(d)
	if p.JSON {
		p.line(d)
		return
	}
	fmt.Fprintln(p.Out, p.Neutralize(row(d)))
}

// line prints a line of JSON.
func (p *Printer) line(v any) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if e.Encode(v) == nil {
		_, _ = io.WriteString(p.Out, EscapeControls(text.String(), p.Neutralize))
	}
}

// EscapeControls writes the characters of JSON that neutralize would replace as \u escapes, except for the ends of lines.
// They are in strings only, because encoding/json adds none, and it escapes only some of what a terminal obeys.
func EscapeControls(text string, neutralize func(string) string) string {
	if plain := strings.ReplaceAll(text, "\n", " "); neutralize(plain) == plain {
		return text
	}
	var out strings.Builder
	for _, c := range text {
		switch one := string(c); {
		case c == '\n' || neutralize(one) == one:
			out.WriteString(one)
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, c)
		}
	}
	return out.String()
}

// row formats a decision: time, caller, method, path, status, outcome, limit and latency.
func row(d *watch.Decision) string {
	outcome := d.Outcome
	if d.Reason != "" {
		outcome += " " + d.Reason
	}
	status := "-"
	if d.Status != 0 {
		status = strconv.Itoa(d.Status)
	}
	limit := "-"
	if d.Limit != nil {
		limit = fmt.Sprintf("%s %d/%d", d.Limit.Policy, d.Limit.Remaining, d.Limit.Max)
	}
	return fmt.Sprintf("%s  %s  %s %s  %3s %s  %s  %s", d.Time.Local().Format("15:04:05.000"), pad(caller(d), callerWidth), pad(d.Method, methodWidth), pad(d.Path, pathWidth),
		status, pad(outcome, outcomeWidth), pad(limit, limitWidth), milliseconds(d.Milliseconds))
}

// The widths of columns. A longer text moves what follows.
const (
	callerWidth, methodWidth, pathWidth, outcomeWidth, limitWidth = 24, 6, 32, 20, 16
)

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// caller names who sent a request: client and user, or the address.
func caller(d *watch.Decision) string {
	switch {
	case d.Client == "":
		return d.Address
	case d.User == "":
		return d.Client
	}
	return d.Client + " " + d.User
}

// milliseconds has three significant digits.
func milliseconds(ms float64) string { return strconv.FormatFloat(ms, 'g', 3, 64) + " ms" }
