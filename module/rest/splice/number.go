package splice

// part is of a number what was read last (RFC 8259 section 6).
type part uint8

const (
	minus part = iota
	zero
	digits
	point
	fraction
	exp
	sign
	power
)

func firstPart(c byte) part {
	switch c {
	case '-':
		return minus
	case '0':
		return zero
	}
	return digits
}

// whole reports whether the number may end here.
func (n part) whole() bool { return n == zero || n == digits || n == fraction || n == power }

func (n part) expected() string {
	if n == exp {
		return "a digit or a sign"
	}
	return "a digit"
}

// scan goes to the first byte that does not continue the number.
func (n *part) scan(p []byte, i int) int {
	at := *n
	for ; i < len(p); i++ {
		c := p[i]
		digit := c-'0' < 10
		switch at {
		case digits, fraction, power:
			if digit {
				continue
			}
		}
		switch {
		case digit && at == minus && c == '0':
			at = zero
		case digit && at == minus:
			at = digits
		case digit && at == point:
			at = fraction
		case digit && (at == exp || at == sign):
			at = power
		case c == '.' && (at == zero || at == digits):
			at = point
		case c|0x20 == 'e' && (at == zero || at == digits || at == fraction):
			at = exp
		case (c == '+' || c == '-') && at == exp:
			at = sign
		default:
			*n = at
			return i
		}
	}
	*n = at
	return i
}

// hexValue has the values of hexadecimal digits, and 0xff for what is none.
var hexValue = func() (t [256]byte) {
	for c := range t {
		switch {
		case '0' <= c && c <= '9':
			t[c] = byte(c) - '0'
		case 'a' <= c && c <= 'f':
			t[c] = byte(c) - 'a' + 10
		case 'A' <= c && c <= 'F':
			t[c] = byte(c) - 'A' + 10
		default:
			t[c] = 0xff
		}
	}
	return t
}()

func isHex(c byte) bool { return hexValue[c] != 0xff }

func isEscape(c byte) bool {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}
