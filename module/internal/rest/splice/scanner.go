package splice

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// state is what the scanner expects, or is in.
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

// scanner finds the tokens of a text and checks the grammar (RFC 8259).
type scanner struct {
	state   state
	inName  bool // the string is a name
	number  part // of the number
	hexLeft int  // hexadecimal digits still to come
	literal string
	depth   int
	arrays  []bool // whether the container at each depth is an array
	base    int64  // bytes before the chunk
}

// scan reads a chunk, and calls the editor's methods for tokens that matter. It handles the states of most bytes
// itself: a call for each of them would cost a tenth of the time.
func (e *Editor) scan(p []byte) (err error) {
	i, st := 0, e.scanner.state
	for i < len(p) {
		c := p[i]
		switch st {
		case inString:
			if i += plain(p[i:]); i == len(p) {
				continue
			}
			if c = p[i]; c != '"' {
				if st, err = e.scanner.inStringAt(c, i); err != nil {
					return err
				}
				i++
				continue
			}
			i++
			if !e.scanner.inName {
				st = e.endScalar(i)
				continue
			}
			if e.held.on {
				if err := e.decideMember(e.decoded(e.held.rawToken(p, i)), i); err != nil {
					return err
				}
			}
			st = beforeColon
			if i < len(p) && p[i] == ':' {
				i++
				st = beforeValue
			}
		case beforeValue, beforeValueOrEnd:
			if isSpace(c) {
				i = space(p, i+1)
				continue
			}
			if i, st, err = e.scanValue(p, i, st); err != nil {
				return err
			}
		case afterValue:
			switch {
			case c == ',':
				if e.at.tracked {
					e.passComma(i)
				}
				i++
				if st = beforeName; e.scanner.arrays[e.scanner.depth-1] {
					st = beforeValue
				}
			case isSpace(c):
				i = space(p, i+1)
			default:
				if !e.scanner.endsContainer(c) {
					return e.scanner.syntax(i, "a comma or the end of the array or object")
				}
				i++
				st = e.leave(i)
			}
		case beforeName, beforeNameOrEnd:
			if isSpace(c) {
				i = space(p, i+1)
				continue
			}
			if i, st, err = e.scanName(c, i, st); err != nil {
				return err
			}
		default:
			if i, st, err = e.scanRare(p, i, st); err != nil {
				return err
			}
		}
	}
	e.scanner.state = st
	return nil
}

// scanValue begins a value at i, or ends an empty array.
func (e *Editor) scanValue(p []byte, i int, st state) (int, state, error) {
	c := p[i]
	kind := starts[c]
	if st == beforeValueOrEnd {
		if (kind != 0 || c == ']') && e.scanner.depth == e.captured.containerDepth {
			e.captured.storeContainer(Array, c == ']')
		}
		if c == ']' {
			return i + 1, e.leave(i + 1), nil
		}
	}
	if kind == 0 {
		return i, st, e.scanner.syntax(i, "a value")
	}
	if e.at.tracked {
		e.beginValue(c, i)
	}
	i++
	switch kind {
	case 's':
		e.scanner.inName = false
		return i, inString, nil
	case 'n':
		e.scanner.number = steps[start][class[c]]
		return e.scanNumber(p, i)
	case 'l':
		e.scanner.literal = literals[c]
		return i, inLiteral, nil
	}
	if e.scanner.depth >= e.plan.maxDepth {
		return i, st, ErrDepth
	}
	return i, e.enter(c == '[', i), nil
}

// scanNumber continues a number at i.
func (e *Editor) scanNumber(p []byte, i int) (int, state, error) {
	if i = e.scanner.number.skip(p, i); i == len(p) {
		return i, inNumber, nil
	}
	if !e.scanner.number.complete() {
		return i, inNumber, e.scanner.syntax(i, e.scanner.number.expected())
	}
	return i, e.endScalar(i), nil
}

// scanName begins a name with c at i, or ends an empty object.
func (e *Editor) scanName(c byte, i int, st state) (int, state, error) {
	switch {
	case c == '"':
		if e.held.on {
			e.held.token = len(e.held.earlier) + i - e.held.from
		}
		if st == beforeNameOrEnd && e.scanner.depth == e.captured.containerDepth {
			e.captured.storeContainer(Object, false)
		}
		e.scanner.inName = true
		return i + 1, inString, nil
	case c == '}' && st == beforeNameOrEnd:
		if e.scanner.depth == e.captured.containerDepth {
			e.captured.storeContainer(Object, true)
		}
		return i + 1, e.leave(i + 1), nil
	}
	return i, st, e.scanner.syntax(i, "a name in double quotes")
}

// endsContainer reports whether c ends the present array or object.
func (s *scanner) endsContainer(c byte) bool {
	if s.arrays[s.depth-1] {
		return c == ']'
	}
	return c == '}'
}

// inStringAt returns the state after c at i, which is neither plain nor ends the string.
func (s *scanner) inStringAt(c byte, i int) (state, error) {
	if c == '\\' {
		return inEscape, nil
	}
	return inString, s.syntax(i, "a character of a string; control characters are escaped")
}

// scanRare handles the states whose bytes are rare or cost more than a call.
func (e *Editor) scanRare(p []byte, i int, st state) (int, state, error) {
	s, c := &e.scanner, p[i]
	switch st {
	case inNumber:
		return e.scanNumber(p, i)
	case inLiteral:
		if c != s.literal[0] {
			return i, st, s.syntax(i, "true, false or null")
		}
		if s.literal = s.literal[1:]; s.literal == "" {
			return i + 1, e.endScalar(i + 1), nil
		}
		return i + 1, st, nil
	case inEscape:
		if c != 'u' {
			if strings.IndexByte(escapes, c) < 0 {
				return i, st, s.syntax(i, `one of "\/bfnrtu`)
			}
			return i + 1, inString, nil
		}
		if i+4 < len(p) && isHex(p[i+1]) && isHex(p[i+2]) && isHex(p[i+3]) && isHex(p[i+4]) {
			return i + 5, inString, nil
		}
		s.hexLeft = 4
		return i + 1, inHex, nil
	case inHex:
		if !isHex(c) {
			return i, st, s.syntax(i, "a hexadecimal digit")
		}
		if s.hexLeft--; s.hexLeft == 0 {
			return i + 1, inString, nil
		}
		return i + 1, inHex, nil
	case beforeColon:
		switch {
		case c == ':':
			return i + 1, beforeValue, nil
		case isSpace(c):
			return space(p, i+1), beforeColon, nil
		}
		return i, st, s.syntax(i, "a colon")
	}
	if !isSpace(c) { // afterText
		return i, st, s.syntax(i, "the end of the text")
	}
	return i + 1, st, nil
}

func (s *scanner) syntax(i int, expected string) error {
	return &syntaxError{offset: s.base + int64(i), expected: expected}
}

// afterValue returns the state after a value.
func (s *scanner) afterValue() state {
	if s.depth == 0 {
		return afterText
	}
	return afterValue
}

// enter enters the container that begins right before i.
func (e *Editor) enter(array bool, i int) state {
	e.scanner.depth++
	e.scanner.arrays = append(e.scanner.arrays, array)
	if e.at.tracked {
		e.enterContainer(i)
	}
	if array {
		return beforeValueOrEnd
	}
	return beforeNameOrEnd
}

// leave leaves the container that ends right before i.
func (e *Editor) leave(i int) state {
	if n := len(e.at.frames); n > 0 && e.at.frames[n-1].depth == e.scanner.depth {
		e.leaveContainer(i)
	}
	e.scanner.depth--
	e.scanner.arrays = e.scanner.arrays[:e.scanner.depth]
	n := len(e.at.frames)
	e.at.tracked = n > 0 && e.at.frames[n-1].depth == e.scanner.depth && e.at.frames[n-1].isTracked()
	return e.scanner.afterValue()
}

// space returns the index of the first byte that is not white space. It skips indentation eight bytes at a time.
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

// starts tells what a value's first byte begins: s a string, n a number, l a literal, c a container.
var starts = [256]byte{
	'"': 's', '{': 'c', '[': 'c', 't': 'l', 'f': 'l', 'n': 'l', '-': 'n',
	'0': 'n', '1': 'n', '2': 'n', '3': 'n', '4': 'n', '5': 'n', '6': 'n', '7': 'n', '8': 'n', '9': 'n',
}

// literals has the rest of true, false and null by their first byte.
var literals = [256]string{'t': "rue", 'f': "alse", 'n': "ull"}

// plain counts the bytes of a string before one that ends it, escapes, or is invalid, eight at a time: the lowest
// highest bit that is set in m belongs to the first such byte.
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
