package apirest

import (
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
)

// readPairs reads words such as <ours>=<theirs>. Where alone is true, a word without = is both.
func readPairs(d *caddyfile.Dispenser, form string, alone bool) (found [][2]string, err error) {
	word := d.Val()
	values, err := parse.LiteralArguments(form)(d)
	for _, v := range values {
		pair, err := cutPair(d, word, v, form, alone)
		if err != nil {
			return nil, err
		}
		found = append(found, pair)
	}
	return found, err
}

func cutPair(d *caddyfile.Dispenser, word, value, form string, alone bool) (pair [2]string, err error) {
	ours, theirs, both := strings.Cut(value, "=")
	if !both {
		theirs = ours
	}
	if ours == "" || theirs == "" || !both && !alone {
		return pair, d.Errf("%s: unexpected '%s', expected %s", word, value, form)
	}
	return [2]string{ours, theirs}, nil
}
