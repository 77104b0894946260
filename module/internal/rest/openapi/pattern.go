package openapi

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// maxPattern is how long a pattern in a description may be. Classes such as \pL become long
// lists of ranges.
const maxPattern = 2000

// same are expressions that mean the same in both dialects as they stand.
var same = regexp.MustCompile(`^(?:[\w ,:;@~=!#%&'"<>|*+?()-]|\[\^?[\w .,:;@~=!#%&'"<>|*+?()-]+\]|\\[.dw]|\{\d+(?:,\d*)?\})*$`)

// expression adds a regular expression in RE2's syntax, which the whole text must match, to a
// schema. Where the dialect of JSON Schema (ECMA-262) cannot say it, the description does.
func expression(schema object, re2 string) {
	if re2 == "" {
		return
	}
	if same.MatchString(re2) && !strings.Contains(strings.ReplaceAll(re2, "(?:", ""), "(?") {
		schema["pattern"] = "^(?:" + re2 + ")$"
		return
	}
	if parsed, err := syntax.Parse(re2, syntax.Perl); err == nil {
		var p portable
		if p.write(parsed); !p.failed && p.Len() <= maxPattern {
			schema["pattern"] = "^(?:" + p.String() + ")$"
			return
		}
	}
	text := fmt.Sprintf("Matches the expression %s (RE2).", re2)
	if about, ok := schema["description"].(string); ok {
		text = about + " " + text
	}
	schema["description"] = text
}

// portable writes an expression in the words that RE2 and ECMA-262 share, with and without its
// flag u.
type portable struct {
	strings.Builder
	failed bool
}

func (p *portable) write(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		p.WriteString("(?:)")
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 && unicode.SimpleFold(r) != r {
				p.folded(r)
				continue
			}
			p.char(r, `^$\.*+?()[]{}|/`)
		}
	case syntax.OpCharClass:
		p.class(re.Rune)
	case syntax.OpAnyCharNotNL:
		p.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		p.WriteString(`[\s\S]`)
	case syntax.OpBeginText:
		p.WriteString("^")
	case syntax.OpEndText:
		p.WriteString("$")
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			p.write(sub)
		}
	case syntax.OpCapture, syntax.OpAlternate:
		p.group(re)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		p.repeat(re)
	default:
		p.failed = true // line anchors and word boundaries, which differ
	}
}

// group writes alternatives, or what is captured, in brackets that capture nothing.
func (p *portable) group(re *syntax.Regexp) {
	before := "(?:"
	for _, sub := range re.Sub {
		p.WriteString(before)
		p.write(sub)
		before = "|"
	}
	p.WriteString(")")
}

func (p *portable) repeat(re *syntax.Regexp) {
	switch re.Sub[0].Op {
	case syntax.OpCharClass, syntax.OpCapture, syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		p.write(re.Sub[0])
	default:
		p.group(re)
	}
	switch {
	case re.Op == syntax.OpStar:
		p.WriteString("*")
	case re.Op == syntax.OpPlus:
		p.WriteString("+")
	case re.Op == syntax.OpQuest:
		p.WriteString("?")
	case re.Max == re.Min:
		fmt.Fprintf(p, "{%d}", re.Min)
	case re.Max < 0:
		fmt.Fprintf(p, "{%d,}", re.Min)
	default:
		fmt.Fprintf(p, "{%d,%d}", re.Min, re.Max)
	}
	if re.Flags&syntax.NonGreedy != 0 {
		p.WriteString("?")
	}
}

// folded is a character whose case does not count.
func (p *portable) folded(r rune) {
	p.WriteString("[")
	p.inClass(r)
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		p.inClass(f)
	}
	p.WriteString("]")
}

// class writes ranges of characters; those that go on to the last one are written as what is
// not in them, since not all readers know characters beyond U+FFFF.
func (p *portable) class(ranges []rune) {
	if len(ranges) == 0 {
		p.failed = true
		return
	}
	p.WriteString("[")
	if ranges[len(ranges)-1] == unicode.MaxRune {
		p.WriteString("^")
		var gaps []rune
		next := rune(0)
		for i := 0; i < len(ranges); i += 2 {
			if ranges[i] > next {
				gaps = append(gaps, next, ranges[i]-1)
			}
			next = ranges[i+1] + 1
		}
		ranges = gaps
	}
	for i := 0; i < len(ranges); i += 2 {
		p.inClass(ranges[i])
		if ranges[i+1] > ranges[i] {
			if ranges[i+1] > ranges[i]+1 {
				p.WriteString("-")
			}
			p.inClass(ranges[i+1])
		}
	}
	p.WriteString("]")
}

func (p *portable) inClass(r rune) { p.char(r, `\]^-[`) }

// char writes a character, escaped where it means something.
func (p *portable) char(r rune, special string) {
	switch {
	case r > 0xFFFF:
		p.failed = true // two characters to those who do not read with the flag u
	case r < ' ' || r >= 0x7f:
		fmt.Fprintf(p, `\u%04x`, r)
	case strings.ContainsRune(special, r):
		p.WriteByte('\\')
		p.WriteRune(r)
	default:
		p.WriteRune(r)
	}
}
