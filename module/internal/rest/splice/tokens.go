package splice

import "bytes"

// Tokens reads the tokens of a valid JSON text, one after the other, without copying them.
type Tokens struct {
	text []byte
	at   int
}

// TokensOf returns the tokens of a valid text.
func TokensOf(text []byte) Tokens { return Tokens{text: text} }

// Peek returns the first byte of the next token, 0 at the end of the text. Commas and colons are no tokens.
func (t *Tokens) Peek() byte {
	for ; t.at < len(t.text); t.at++ {
		if c := t.text[t.at]; !isSpace(c) && c != ',' && c != ':' {
			return c
		}
	}
	return 0
}

// Next returns the next token as it is written: a bracket or brace, a string in its quotes, a number, true, false or null. It
// returns nil at the end of the text.
func (t *Tokens) Next() []byte {
	c := t.Peek()
	begin := t.at
	switch c {
	case 0:
		return nil
	case '{', '}', '[', ']':
		t.at++
	case '"':
		t.passString()
	default:
		for t.at++; t.at < len(t.text) && !endsScalar(t.text[t.at]); t.at++ {
		}
	}
	return t.text[begin:t.at]
}

func endsScalar(c byte) bool { return c == ',' || c == ']' || c == '}' || isSpace(c) }

// Skip passes over the next value.
func (t *Tokens) Skip() {
	if c := t.Peek(); c != '{' && c != '[' {
		t.Next()
		return
	}
	for depth := 0; ; {
		switch t.text[t.at] {
		case '"':
			t.passString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if t.at++; depth == 0 {
			return
		}
	}
}

// passString passes over the string that begins here.
func (t *Tokens) passString() {
	for t.at++; ; t.at += 2 { // past the quote, or an escaped character
		t.at += plain(t.text[t.at:])
		if t.text[t.at] == '"' {
			t.at++
			return
		}
	}
}

// Text returns the text of a string that Next returned. It is a part of that unless something in it is escaped.
func Text(token []byte) []byte {
	raw := token[1 : len(token)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return unquote(make([]byte, 0, len(raw)), raw)
}
