package validate

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// maxNumber and maxExponent bound a number's literal. Without them a few bytes (1e999999999)
// cost whoever computes with them, here or behind the gateway, all memory or an overflow. Within
// them, numbers are exact here, and any 64-bit integer or double fits.
const (
	maxNumber   = 400
	maxExponent = 400
)

func (w *walker) number() *envelope.Refusal {
	start := w.at
	for w.at < len(w.text) && strings.IndexByte("+-.0123456789eE", w.text[w.at]) >= 0 {
		w.at++
	}
	if !proportionate(string(w.text[start:w.at])) {
		return w.refuse("is a number that is too long")
	}
	return nil
}

func proportionate(literal string) bool {
	if len(literal) > maxNumber {
		return false
	}
	_, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	if exponent == "" {
		return true
	}
	n, err := strconv.Atoi(exponent)
	return err == nil && -maxExponent <= n && n <= maxExponent
}

// decimal is an exact number: 0.digits * 10^exponent. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// parseDecimal parses a JSON number of reasonable size.
func parseDecimal(literal string) decimal {
	literal, negative := strings.CutPrefix(literal, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d := decimal{negative: negative, digits: whole + fraction, exponent: len(whole)}
	if exponent != "" {
		n, _ := strconv.Atoi(exponent) // it is of reasonable size
		d.exponent += n
	}
	for strings.HasPrefix(d.digits, "0") {
		d.digits = d.digits[1:]
		d.exponent--
	}
	d.digits = strings.TrimRight(d.digits, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func (d decimal) compare(e decimal) int {
	if sign := cmp.Compare(d.sign(), e.sign()); sign != 0 || d.digits == "" {
		return sign
	}
	size := cmp.Compare(d.exponent, e.exponent)
	if size == 0 {
		size = strings.Compare(d.digits, e.digits) // the shorter one is smaller
	}
	return size * d.sign()
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}
