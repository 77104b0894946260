package apirest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/bytesize"
	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/caddyfile/spelling"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// readFetch reads how a file is fetched: in one line, or in a block.
func readFetch(d *caddyfile.Dispenser) (*job.Fetch, error) {
	f := new(job.Fetch)
	words := d.RemainingArgs()
	if len(words) > 0 && !slices.Contains(fetchWords, words[0]) {
		f.Field, words = words[0], words[1:]
	}
	for len(words) > 0 {
		end := 1
		for end < len(words) && !slices.Contains(fetchWords, words[end]) {
			end++
		}
		if err := toFetch(d, f, words[0], words[1:end]); err != nil {
			return nil, err
		}
		words = words[end:]
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		word := d.Val()
		if err := toFetch(d, f, word, d.RemainingArgs()); err != nil {
			return nil, err
		}
	}
	return f, nil
}

var fetchWords = []string{"max", "timeout", "redirects", "part", "allow", "insecure"}

func toFetch(d *caddyfile.Dispenser, f *job.Fetch, word string, values []string) error {
	expected := map[string]string{
		"max": "a size such as 200MiB", "timeout": "a duration such as 30s or 5m", "redirects": "a whole number from 0",
		"part": "the field of a multipart form, such as file", "allow": "address ranges such as 10.0.0.0/8", "insecure": "address ranges such as 10.1.0.0/16",
	}[word]
	switch {
	case expected == "":
		return d.Errf("unrecognized word '%s' in fetch%s, expected one of: %s", word, spelling.Suggest(word, fetchWords), strings.Join(fetchWords, ", "))
	case len(values) == 0:
		return d.Errf("fetch: %s: expected %s", word, expected)
	case len(values) > 1 && word != "allow" && word != "insecure":
		return d.Errf("fetch: %s: unexpected '%s', expected only %s", word, values[1], expected)
	}
	given := false
	ok := true
	switch word {
	case "max":
		given = f.Max != 0
		f.Max, ok = bytesize.Parse(values[0])
	case "timeout":
		given = f.Timeout != 0
		var err error
		if f.Timeout, err = parse.ToDuration[time.Duration](d, "fetch: timeout", values[0]); err != nil {
			return err
		}
	case "redirects":
		given = f.Redirects != 0
		n, err := strconv.Atoi(values[0])
		f.Redirects, ok = n, err == nil && n >= 0
		if n == 0 {
			f.Redirects = -1
		}
	case "part":
		given = f.Part != ""
		f.Part = values[0]
	case "allow":
		f.Allow = append(f.Allow, values...)
	case "insecure":
		f.Insecure = append(f.Insecure, values...)
	}
	if given {
		return d.Errf("fetch: %s is given twice", word)
	}
	if !ok {
		return d.Errf("fetch: %s: invalid '%s', expected %s", word, values[0], expected)
	}
	return nil
}
