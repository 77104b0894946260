package splice

import (
	"encoding/binary"
	"math/bits"
)

// state is what the scanner is in front of, or in.
type state uint8

const (
	beforeValue      state = iota
	beforeValueOrEnd       // a value or ]
	beforeName             // a name
	beforeNameOrEnd        // a name or }
	beforeColon
	afterValue // a comma or the end of the container
	afterText  // white space
	inString
	inEscape
	inHex
	inNumber
	inLiteral
)

// scan goes through a chunk. It decides by itself only what JSON is.
func (e *Editor) scan(p []byte) error {
	i, st := 0, e.state
	for i < len(p) {
		c := p[i]
		switch st {
		case inString:
			i += plain(p[i:])
			if i == len(p) {
				continue
			}
			switch c = p[i]; {
			case c == '\\':
				i++
				st = inEscape
			case c < 0x20:
				return e.syntax(i, "a character of a string; control characters are escaped")
			case e.naming:
				i++
				if e.holding {
					if err := e.name(i); err != nil {
						return err
					}
				}
				st = beforeColon
				if i < len(p) && p[i] == ':' {
					i++
					st = beforeValue
				}
			default:
				i++
				st = e.finish(i)
			}
		case inEscape:
			if st = inString; c == 'u' {
				st, e.hex = inHex, 4
				if i+4 < len(p) && isHex(p[i+1]) && isHex(p[i+2]) && isHex(p[i+3]) && isHex(p[i+4]) {
					i += 4
					st = inString
				}
			} else if !isEscape(c) {
				return e.syntax(i, `one of "\/bfnrtu`)
			}
			i++
		case inHex:
			if !isHex(c) {
				return e.syntax(i, "a hexadecimal digit")
			}
			i++
			if e.hex--; e.hex == 0 {
				st = inString
			}
		case inNumber:
			i = e.num.scan(p, i)
			if i == len(p) {
				continue
			}
			if !e.num.whole() {
				return e.syntax(i, e.num.expected())
			}
			st = e.finish(i)
		case inLiteral:
			if c != e.lit[0] {
				return e.syntax(i, "true, false or null")
			}
			i++
			if e.lit = e.lit[1:]; e.lit == "" {
				st = e.finish(i)
			}
		case beforeValue, beforeValueOrEnd:
			if isSpace(c) {
				i = space(p, i+1)
				continue
			}
			if c == ']' && st == beforeValueOrEnd {
				i++
				if e.depth == e.entryDepth {
					e.known(Array, true)
				}
				st = e.leave(i)
				continue
			}
			kind := starts[c]
			if kind == 0 {
				return e.syntax(i, "a value")
			}
			if st == beforeValueOrEnd {
				if e.depth == e.entryDepth {
					e.known(Array, false)
				}
			}
			if e.heed {
				if err := e.begin(c, i); err != nil {
					return err
				}
			}
			switch i++; kind {
			case 's':
				st, e.naming = inString, false
			case 'n':
				st, e.num = inNumber, firstPart(c)
			case 'l':
				st, e.lit = inLiteral, restOf(c)
			default:
				if e.depth >= e.plan.maxDepth {
					return ErrDepth
				}
				st = e.enter(c == '[', i)
			}
		case beforeNameOrEnd, beforeName:
			switch {
			case isSpace(c):
				i = space(p, i+1)
			case c == '"':
				if e.holding {
					e.token = len(e.hold) + i - e.held
				}
				if st == beforeNameOrEnd {
					if e.depth == e.entryDepth {
						e.known(Object, false)
					}
				}
				i++
				st, e.naming = inString, true
			case c == '}' && st == beforeNameOrEnd:
				i++
				if e.depth == e.entryDepth {
					e.known(Object, true)
				}
				st = e.leave(i)
			default:
				return e.syntax(i, "a name in double quotes")
			}
		case beforeColon:
			switch {
			case c == ':':
				i++
				st = beforeValue
			case isSpace(c):
				i = space(p, i+1)
			default:
				return e.syntax(i, "a colon")
			}
		case afterValue:
			array := e.arrays[e.depth-1]
			switch {
			case c == ',':
				if e.heed {
					e.comma(i)
				}
				i++
				if st = beforeName; array {
					st = beforeValue
				}
			case isSpace(c):
				i = space(p, i+1)
			case c == ']' && array, c == '}' && !array:
				i++
				st = e.leave(i)
			default:
				return e.syntax(i, "a comma or the end of the array or object")
			}
		default: // afterText
			if !isSpace(c) {
				return e.syntax(i, "the end of the text")
			}
			i++
		}
	}
	e.state = st
	return nil
}

func (e *Editor) syntax(i int, expected string) error {
	return &SyntaxError{Offset: e.base + int64(i), Expected: expected}
}

// next is the state behind a value.
func (e *Editor) next() state {
	if e.depth == 0 {
		return afterText
	}
	return afterValue
}

// enter goes into a container that begins right before i.
func (e *Editor) enter(array bool, i int) state {
	e.depth++
	e.arrays = append(e.arrays, array)
	if e.heed {
		e.entered(i)
	}
	if array {
		return beforeValueOrEnd
	}
	return beforeNameOrEnd
}

// leave goes out of the container that ends right before i.
func (e *Editor) leave(i int) state {
	if n := len(e.frames); n > 0 && e.frames[n-1].depth == e.depth {
		e.left(i)
	}
	e.depth--
	e.arrays = e.arrays[:e.depth]
	n := len(e.frames)
	e.heed = n > 0 && e.frames[n-1].depth == e.depth && e.frames[n-1].heeds()
	return e.next()
}

// space goes to the first byte that is not white space, in long strides through the
// indentation of a text.
func space(p []byte, i int) int {
	for len(p)-i >= 8 && binary.LittleEndian.Uint64(p[i:]) == 0x2020202020202020 {
		i += 8
	}
	for i < len(p) && isSpace(p[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t') }

// starts has what a value's first byte tells: s, n, l, and c for a container.
var starts = [256]byte{
	'"': 's', '{': 'c', '[': 'c', 't': 'l', 'f': 'l', 'n': 'l', '-': 'n',
	'0': 'n', '1': 'n', '2': 'n', '3': 'n', '4': 'n', '5': 'n', '6': 'n', '7': 'n', '8': 'n', '9': 'n',
}

func restOf(c byte) string {
	switch c {
	case 't':
		return "rue"
	case 'f':
		return "alse"
	}
	return "ull"
}

// plain counts the bytes of a string before one that ends it, escapes, or is wrong.
// Eight at a time: of each such byte the highest bit is set, and of those below the
// first none.
func plain(p []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(p)-i >= 8; i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		if m := ((w-ones*0x20)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(p); i++ {
		if c := p[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}
