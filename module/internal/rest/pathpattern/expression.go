package pathpattern

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// Expression is the regular expression that a placeholder's whole value must match.
type Expression struct {
	re *regexp.Regexp // anchored
	// class is set for one or more characters of a class, such as [0-9]+ and .+, which need
	// no regular expression: ranges of runes, lowest and highest in turn.
	class []rune
}

// maxExpression bounds the length of an expression, in bytes.
const maxExpression = 256

func parseExpression(text string) (*Expression, error) {
	if text == "" || len(text) > maxExpression {
		return nil, fmt.Errorf("expected an expression of 1 to %d bytes behind the colon, such as {id:[0-9]+}", maxExpression)
	}
	e, err := compileExpression(text)
	if err != nil {
		return nil, fmt.Errorf("%w; expected an expression in RE2's syntax, such as {id:[0-9]+}", err)
	}
	return e, nil
}

// compileExpression compiles an expression in RE2's syntax, without anchors.
func compileExpression(text string) (*Expression, error) {
	if _, err := regexp.Compile(text); err != nil { // by itself: a parenthesis must not close ours
		return nil, err
	}
	re, err := regexp.Compile(`\A(?:` + text + `)\z`)
	if err != nil {
		return nil, err
	}
	e := &Expression{re: re}
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil && tree.Op == syntax.OpPlus {
		switch of := tree.Sub[0]; of.Op {
		case syntax.OpCharClass:
			e.class = of.Rune
		case syntax.OpAnyCharNotNL:
			e.class = []rune{0, '\n' - 1, '\n' + 1, '\U0010FFFF'}
		}
	}
	return e, nil
}

// String returns the expression with its anchors.
func (e *Expression) String() string { return e.re.String() }

// matches reports whether the expression matches the whole value.
func (e *Expression) matches(value string) bool {
	if e.class == nil {
		return e.re.MatchString(value)
	}
	for _, c := range value {
		if !e.hasRune(c) {
			return false
		}
	}
	return value != ""
}

// hasRune reports whether the class has a character.
func (e *Expression) hasRune(c rune) bool {
	for i := 0; i < len(e.class); i += 2 {
		if e.class[i] <= c && c <= e.class[i+1] {
			return true
		}
	}
	return false
}
