package resource

import (
	"regexp"
	"regexp/syntax"
)

// expression is the regular expression that a placeholder's value must match, all of it.
type expression struct {
	re *regexp.Regexp // anchored
	// class is set for one or more characters of a class, such as [0-9]+ and .+, which need
	// no regular expression: ranges of runes, lowest and highest in turn.
	class []rune
}

// compileExpression reads an expression in RE2's syntax, without anchors.
func compileExpression(text string) (*expression, error) {
	if _, err := regexp.Compile(text); err != nil { // by itself: a parenthesis must not close ours
		return nil, err
	}
	re, err := regexp.Compile(`\A(?:` + text + `)\z`)
	if err != nil {
		return nil, err
	}
	e := &expression{re: re}
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

// String is the expression with its anchors.
func (e *expression) String() string { return e.re.String() }

// matches reports whether the expression matches the whole value.
func (e *expression) matches(value string) bool {
	if e.class == nil {
		return e.re.MatchString(value)
	}
	for _, c := range value {
		if !e.inClass(c) {
			return false
		}
	}
	return value != ""
}

func (e *expression) inClass(c rune) bool {
	for i := 0; i < len(e.class); i += 2 {
		if e.class[i] <= c && c <= e.class[i+1] {
			return true
		}
	}
	return false
}
