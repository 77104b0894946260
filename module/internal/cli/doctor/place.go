package doctor

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// places are the words of a Caddyfile, with their lines.
type places struct {
	name   string
	tokens []caddyfile.Token // none for what is no Caddyfile
}

func findPlaces(source []byte, name string) places {
	tokens, err := caddyfile.Tokenize(source, name)
	if err != nil {
		return places{}
	}
	return places{name, tokens}
}

// of returns the line of the first of the words that begins exactly one line, or "".
func (p places) of(words ...string) string {
	for _, w := range words {
		found, line := 0, 0
		for i, t := range p.tokens {
			if t.Text == w && (i == 0 || p.tokens[i-1].Line != t.Line) {
				found, line = found+1, t.Line
			}
		}
		if found == 1 {
			return p.line(line)
		}
	}
	return ""
}

// containing returns the first line with a text, or "".
func (p places) containing(text string) string {
	for _, t := range p.tokens {
		if strings.Contains(t.Text, text) {
			return p.line(t.Line)
		}
	}
	return ""
}

// after returns the last line on which a word follows another, or "": what is used comes after what is declared.
func (p places) after(word, next string) (line string) {
	for i, t := range p.tokens[:max(0, len(p.tokens)-1)] {
		if t.Text == word && p.tokens[i+1].Text == next {
			line = p.line(t.Line)
		}
	}
	return line
}

func (p places) line(n int) string { return fmt.Sprintf("%s:%d", p.name, n) }

// placeOf says which words a check is about. Where several lines begin so, the message has to do.
var placeOf = map[string][]string{
	"issuer": {"issuer"}, "site": {"oauth_server"}, "plaintext": {"oauth_server"}, "proxies": {"trusted_proxies"}, "guard": {"oauth_guard"},
	"cors": {"oauth_guard"}, "limit": {"api_limit"}, "nodes": {"limiter", "store"}, "logs": {"log_credentials", "log_append", "debug"}, "rest": {"api_rest"},
	"store": {"store"}, "users": {"users"}, "admin": {"admin"}, "headers": {"header"}, "polls": {"write"},
}

// placed adds the line to findings that have none.
func (f *file) placed(all adminapi.Findings) adminapi.Findings {
	for i := range all {
		if one := &all[i]; one.Where == "" && one.Grade != adminapi.GradeOK {
			one.Where = f.places.of(placeOf[one.Check]...)
			if one.Check == "caches" { // a matcher begins no line
				one.Where = cmp.Or(f.places.of(authentication), f.places.containing(scopeMatcher))
			}
		}
	}
	return all
}

// at sets the line of the last finding.
func at(all adminapi.Findings, where string) { all[len(all)-1].Where = where }
