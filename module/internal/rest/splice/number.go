package splice

// part is the last part of a number that was read (RFC 8259 section 6).
type part uint8

const (
	stop part = iota
	start
	minus
	zero
	digits
	point
	fraction
	exp
	sign
	power
)

// complete reports whether the number may end here.
func (n part) complete() bool { return n == zero || n == digits || n == fraction || n == power }

func (n part) expected() string {
	if n == exp {
		return "a digit or a sign"
	}
	return "a digit"
}

// skip returns the index of the first byte that does not continue the number.
func (n *part) skip(p []byte, i int) int {
	at := *n
	for {
		if at == digits || at == fraction || at == power {
			for i < len(p) && p[i]-'0' < 10 {
				i++
			}
		}
		if i == len(p) {
			break
		}
		next := steps[at][class[p[i]]]
		if next == stop {
			break
		}
		at = next
		i++
	}
	*n = at
	return i
}

// Classes of bytes in numbers.
const (
	other = iota
	aZero
	aDigit
	aPoint
	anE
	aSign
	aMinus
	classes
)

var class = [256]uint8{
	'0': aZero, '1': aDigit, '2': aDigit, '3': aDigit, '4': aDigit, '5': aDigit, '6': aDigit, '7': aDigit, '8': aDigit, '9': aDigit,
	'.': aPoint, 'e': anE, 'E': anE, '+': aSign, '-': aMinus,
}

// steps is the grammar: the part that a byte of a class leads to. skip itself handles digits after digits.
var steps = [...][classes]part{
	start:    {aZero: zero, aDigit: digits, aMinus: minus},
	minus:    {aZero: zero, aDigit: digits},
	zero:     {aPoint: point, anE: exp},
	digits:   {aPoint: point, anE: exp},
	point:    {aZero: fraction, aDigit: fraction},
	fraction: {anE: exp},
	exp:      {aZero: power, aDigit: power, aSign: sign, aMinus: sign},
	sign:     {aZero: power, aDigit: power},
	power:    {},
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// Characters that may follow a backslash, and what they stand for.
const (
	escapes   = `"\/bfnrt`
	unescaped = "\"\\/\b\f\n\r\t"
)
