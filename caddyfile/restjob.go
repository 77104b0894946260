package caddyfile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/bytesize"
	"github.com/gatehouse/gatehouse/caddyfile/spelling"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// job reads a kind of work that outlives its request.
//
//	job <path> {
//		upstream [<METHOD>] <template>
//		fetch [<field>] [max <size>] [timeout <duration>] [redirects <n>] [part <field>] [allow <ranges...>] [insecure <ranges...>]
//		fetch [<field>] { ... }
//		when always|preferred
//		name <name>
//		progress <pointer>
//		result <pointer>
//		retry <n>
//		timeout <duration>
//		keep <duration>
//		queue <n>
//		per_client <n>
//		workers <n>
//	}
func (r *rest) job() error {
	d := r.Dispenser
	head := d.Token()
	if !d.NextArg() {
		return d.Err("job: expected a path such as import-jobs")
	}
	j := job.Config{Path: short(d.Val())}
	if d.NextArg() {
		return d.Errf("job %s: unexpected argument '%s', expected a block", j.Path, d.Val())
	}
	for _, other := range r.Jobs {
		if strings.Trim(other.Path, "/") == strings.Trim(j.Path, "/") {
			return d.Errf("job %s is given twice", j.Path)
		}
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		line := d.Token()
		if err := jobWord(d, &j); err != nil {
			return err
		}
		// The words are judged as they come, so that the line is the one that is wrong.
		probe := j
		probe.Upstream = cmp.Or(probe.Upstream, "/")
		if err := probe.Check(); err != nil {
			return at(line, err)
		}
	}
	if j.Upstream == "" {
		return at(head, errNoJobUpstream(j.Path))
	}
	r.saw("/"+strings.Trim(j.Path, "/"), head)
	r.Jobs = append(r.Jobs, j)
	return nil
}

type errNoJobUpstream string

func (path errNoJobUpstream) Error() string {
	return "job " + string(path) + ": expected where the work is done, such as `upstream POST /api.php?mod=import`"
}

func jobWord(d *caddyfile.Dispenser, j *job.Config) (err error) {
	switch d.Val() {
	case "upstream":
		err = jobUpstream(d, j)
	case "fetch":
		if err := once(d, j.Fetch != nil); err != nil {
			return err
		}
		j.Fetch = new(job.Fetch)
		err = fetch(d, j.Fetch)
	case "progress":
		err = text(d, &j.Progress, "a JSON Pointer such as /percent")
	case "result":
		err = text(d, &j.Result, "a JSON Pointer such as /result")
	case "retry":
		err = count(d, &j.Retry)
	case "when":
		err = choice(d, &j.When, "always", "preferred")
	case "name":
		err = text(d, &j.Name, "a name such as nightly-imports")
	case "timeout":
		err = span(d, &j.Timeout)
	case "keep":
		err = span(d, &j.Keep)
	case "queue":
		err = count(d, &j.Queue)
	case "per_client":
		err = count(d, &j.PerClient)
	case "workers":
		err = count(d, &j.Workers)
	default:
		err = unknown(d, "job", "upstream", "fetch", "when", "name", "progress", "result", "retry", "timeout", "keep", "queue",
			"per_client", "workers")
	}
	return err
}

func jobUpstream(d *caddyfile.Dispenser, j *job.Config) error {
	const form = "the upstream's path and query, and perhaps a method in front, such as `upstream POST /api.php?mod=import`"
	if err := once(d, j.Upstream != ""); err != nil {
		return err
	}
	words, err := args(d, form)
	if err != nil {
		return err
	}
	if len(words) == 2 && slices.Contains(linkMethods, words[0]) {
		j.Method, words = words[0], words[1:]
	}
	if len(words) != 1 || !strings.HasPrefix(words[0], "/") {
		return d.Errf("upstream: unexpected '%s', expected %s", words[0], form)
	}
	j.Upstream = words[0]
	return nil
}

// fetch reads how a file is fetched: in one line, or in a block.
func fetch(d *caddyfile.Dispenser, f *job.Fetch) error {
	words := d.RemainingArgs()
	if len(words) > 0 && !slices.Contains(fetchWords, words[0]) {
		f.Field, words = words[0], words[1:]
	}
	for len(words) > 0 {
		end := 1
		for end < len(words) && !slices.Contains(fetchWords, words[end]) {
			end++
		}
		if err := fetchWord(d, f, words[0], words[1:end]); err != nil {
			return err
		}
		words = words[end:]
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		word := d.Val()
		if err := fetchWord(d, f, word, d.RemainingArgs()); err != nil {
			return err
		}
	}
	return nil
}

var fetchWords = []string{"max", "timeout", "redirects", "part", "allow", "insecure"}

func fetchWord(d *caddyfile.Dispenser, f *job.Fetch, word string, values []string) error {
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
		t, err := parseDuration(d, "fetch: timeout", values[0], false)
		if err != nil {
			return err
		}
		f.Timeout = time.Duration(t)
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

func span(d *caddyfile.Dispenser, into *time.Duration) error {
	if err := once(d, *into != 0); err != nil {
		return err
	}
	t, err := duration(d, false)
	*into = time.Duration(t)
	return err
}
