package version

import (
	"slices"
	"strconv"
	"strings"
)

// wish is what the Accept fields (RFC 9110 section 12.5.1) of a request say about
// versions. Qualities are in thousandths.
type wish struct {
	vendor   bool     // some version of the vendor's is named, wanted or not, known or not
	versions []ranked // those that are known, as they are named
	plain    int      // the quality of application/json; no Accept field at all is 1000
}

type ranked struct{ index, quality int }

// unmet reports that versions are named, and neither a known one nor plain JSON is wanted.
func (w wish) unmet() bool {
	return w.vendor && w.plain <= 0 && !slices.ContainsFunc(w.versions, func(r ranked) bool { return r.quality > 0 })
}

// best is the version that is wanted most, of equal ones the first; -1 when plain JSON is
// wanted more, or none is named. One that has ended yields to any other that is named, but
// not to plain JSON: libraries add */* to whatever they are told, and who has asked for the
// ended one shall hear of it.
func (w wish) best(ended func(index int) bool) int {
	best, over := ranked{-1, 0}, ranked{-1, 0}
	for _, r := range w.versions {
		to := &best
		if ended(r.index) {
			to = &over
		}
		if r.quality > to.quality {
			*to = r
		}
	}
	if best.index < 0 {
		best = over
	}
	if best.quality < w.plain {
		return -1
	}
	return best.index
}

// of is the quality of a version's own type.
func (w wish) of(index int) (quality int, named bool) {
	for _, r := range w.versions {
		if r.index == index {
			return r.quality, true
		}
	}
	return 0, false
}

// wish reads the fields. Ranges that are none of ours say nothing about versions.
func (s *Set) wish(accept []string) wish {
	w := wish{plain: -1}
	exact := 0 // how precisely plain JSON was named: 1 by */*, 3 by its name
	any := false
	for _, line := range accept {
		for rest := line; rest != ""; {
			var media string
			var quality int
			media, quality, rest = next(rest)
			if media == "" {
				continue
			}
			any = true
			precise := 0
			switch media {
			case "*/*":
				precise = 1
			case "application/*":
				precise = 2
			case "application/json":
				precise = 3
			default:
				s.take(&w, media, quality)
			}
			if precise > exact || precise == exact && precise > 0 && quality > w.plain {
				exact, w.plain = precise, quality
			}
		}
	}
	switch {
	case !any:
		w.plain = 1000
	case exact == 0:
		w.plain = 0
	}
	return w
}

// take notes a range if it is one of ours: application/vnd.acme.v1+json.
func (s *Set) take(w *wish, media string, quality int) {
	rest, ok := strings.CutPrefix(media, "application/vnd."+s.vendor)
	name, json := strings.CutSuffix(strings.TrimPrefix(rest, "."), "+json")
	switch {
	case !ok:
	case rest == "+json", rest == "":
		w.vendor = true // the vendor's, and no version of it
	case rest[0] != '.' || !proper(leadingName(name)):
		// another vendor, such as acme2 or acme.labs
	default:
		w.vendor = true
		index := s.index(name)
		if !json || index < 0 {
			return
		}
		for i := range w.versions {
			if w.versions[i].index == index {
				w.versions[i].quality = max(w.versions[i].quality, quality)
				return
			}
		}
		w.versions = append(w.versions, ranked{index, quality})
	}
}

// leadingName is the first word of what follows the vendor: v3 of v3.raw.
func leadingName(name string) string {
	first, _, _ := strings.Cut(name, ".")
	first, _, _ = strings.Cut(first, "+")
	return first
}

// next takes the first element off a list of media ranges. The media range is in lower
// case, "" for an element that is empty; its parameters but the weight are passed over.
// An element whose weight is no weight is not wanted.
func next(text string) (media string, quality int, rest string) {
	element, rest := cut(text, ',')
	media, params := cut(element, ';')
	quality = 1000
	for params != "" {
		var param string
		param, params = cut(params, ';')
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			quality = weight(strings.TrimSpace(value))
			break // what follows are extensions
		}
	}
	return strings.ToLower(strings.Trim(media, " \t")), quality, rest
}

// cut is strings.Cut, past quoted strings.
func cut(text string, at byte) (before, after string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case c == at && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// weight reads a qvalue (RFC 9110 section 12.4.2) in thousandths, 0 for what is none.
func weight(text string) int {
	whole, fraction, _ := strings.Cut(text, ".")
	if whole != "0" && whole != "1" || len(fraction) > 3 {
		return 0
	}
	n, err := strconv.Atoi(whole + (fraction + "000")[:3])
	if err != nil || n > 1000 {
		return 0
	}
	return n
}
