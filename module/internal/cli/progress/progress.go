// Package progress shows how far long work of a command has come: a bar on a terminal, and now and then a line elsewhere.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	// redrawEvery is between two states of a bar.
	redrawEvery = 100 * time.Millisecond
	// lineEvery is between two lines where there is no terminal, as in the log of a timer. Short work writes none.
	lineEvery = 10 * time.Second
	barWidth  = 30
)

// Bar shows the progress of one step. A nil Bar shows nothing.
type Bar struct {
	w        io.Writer
	terminal bool
	now      func() time.Time
	label    string
	unit     Unit
	total    int64 // 0 if it is not known
	done     int64
	shown    time.Time
	length   int // of what the terminal shows
}

// Unit formats an amount.
type Unit func(n int64) string

// Bytes is the unit of files.
func Bytes(n int64) string {
	const kibi = 1024
	value, names := float64(n), []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for value >= kibi && i < len(names)-1 {
		value, i = value/kibi, i+1
	}
	if i == 0 {
		return fmt.Sprint(n, " bytes")
	}
	return fmt.Sprintf("%.1f %s", value, names[i])
}

// Count returns the unit of things with a name: "3 records".
func Count(names string) Unit {
	return func(n int64) string { return fmt.Sprint(n, " ", names) }
}

// New begins a step. total is the amount of work, 0 if it is not known.
func New(file *os.File, label string, unit Unit, total int64) *Bar {
	b := &Bar{w: file, terminal: term.IsTerminal(int(file.Fd())), now: time.Now, label: label, unit: unit, total: total}
	b.begin()
	return b
}

func (b *Bar) begin() {
	b.shown = b.now()
	if b.terminal {
		b.draw()
	}
}

// Add says that so much more is done.
func (b *Bar) Add(n int64) {
	if b == nil {
		return
	}
	b.done += n
	pause := lineEvery
	if b.terminal {
		pause = redrawEvery
	}
	now := b.now()
	if now.Sub(b.shown) < pause {
		return
	}
	b.shown = now
	b.draw()
}

// Reading adds what is read from a file.
func (b *Bar) Reading(file io.Reader) io.Reader { return io.TeeReader(file, (*reading)(b)) }

// reading counts what is written to it.
type reading Bar

func (b *reading) Write(p []byte) (int, error) {
	(*Bar)(b).Add(int64(len(p)))
	return len(p), nil
}

// End removes the bar from the terminal, so that what comes next has the line for itself.
func (b *Bar) End() {
	if b != nil && b.terminal && b.length > 0 {
		fmt.Fprint(b.w, "\r", strings.Repeat(" ", b.length), "\r")
		b.length = 0
	}
}

func (b *Bar) draw() {
	text := b.label + ": " + b.unit(b.done)
	if b.total > 0 {
		part := min(1, float64(b.done)/float64(b.total))
		text += " of " + b.unit(b.total) + fmt.Sprintf(", %d%%", int(part*100))
		if b.terminal {
			full := int(part * barWidth)
			text = fmt.Sprintf("[%s%s] %s", strings.Repeat("#", full), strings.Repeat("-", barWidth-full), text)
		}
	}
	if !b.terminal {
		fmt.Fprintln(b.w, text)
		return
	}
	fmt.Fprint(b.w, "\r", text, strings.Repeat(" ", max(0, b.length-len(text))))
	b.length = len(text)
}
