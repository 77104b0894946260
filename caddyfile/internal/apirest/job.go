package apirest

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// readJob reads a kind of work that outlives its request.
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
func (b *block) readJob() error {
	d := b.Dispenser
	head := d.Token()
	if !d.NextArg() {
		return d.Err("job: expected a path such as import-jobs")
	}
	j := job.Config{Path: parse.UndoShorthands(d.Val())}
	if d.NextArg() {
		return d.Errf("job %s: unexpected argument '%s', expected a block", j.Path, d.Val())
	}
	for _, other := range b.Jobs {
		if strings.Trim(other.Path, "/") == strings.Trim(j.Path, "/") {
			return d.Errf("job %s is given twice", j.Path)
		}
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		line := d.Token()
		if err := readJobWord(d, &j); err != nil {
			return err
		}
		// Each word is checked as it is read, so that an error has its line.
		probe := j
		probe.Upstream = cmp.Or(probe.Upstream, "/")
		if err := probe.Check(); err != nil {
			return parse.ErrorAt(line, err)
		}
	}
	if j.Upstream == "" {
		return parse.ErrorAt(head, errors.New("job "+j.Path+": expected where the work is done, such as `upstream POST /api.php?mod=import`"))
	}
	b.notePath("/"+strings.Trim(j.Path, "/"), head)
	b.Jobs = append(b.Jobs, j)
	return nil
}

func readJobWord(d *caddyfile.Dispenser, j *job.Config) (err error) {
	switch d.Val() {
	case "upstream":
		err = readJobUpstream(d, j)
	case "fetch":
		if err := parse.Once(d, j.Fetch != nil); err != nil {
			return err
		}
		j.Fetch = new(job.Fetch)
		err = readFetch(d, j.Fetch)
	case "progress":
		err = parse.Text(d, &j.Progress, "a JSON Pointer such as /percent")
	case "result":
		err = parse.Text(d, &j.Result, "a JSON Pointer such as /result")
	case "retry":
		err = parse.Count(d, &j.Retry)
	case "when":
		err = parse.Choice(d, &j.When, "always", "preferred")
	case "name":
		err = parse.Text(d, &j.Name, "a name such as nightly-imports")
	case "timeout":
		err = readSpan(d, &j.Timeout)
	case "keep":
		err = readSpan(d, &j.Keep)
	case "queue":
		err = parse.Count(d, &j.Queue)
	case "per_client":
		err = parse.Count(d, &j.PerClient)
	case "workers":
		err = parse.Count(d, &j.Workers)
	default:
		err = parse.UnknownWord(d, "job", "upstream", "fetch", "when", "name", "progress", "result", "retry", "timeout", "keep", "queue",
			"per_client", "workers")
	}
	return err
}

func readJobUpstream(d *caddyfile.Dispenser, j *job.Config) error {
	const form = "the upstream's path and query, and perhaps a method in front, such as `upstream POST /api.php?mod=import`"
	if err := parse.Once(d, j.Upstream != ""); err != nil {
		return err
	}
	words, err := parse.LiteralArguments(d, form)
	if err != nil {
		return err
	}
	if len(words) == 2 && slices.Contains(writtenMethods, words[0]) {
		j.Method, words = words[0], words[1:]
	}
	if len(words) != 1 || !strings.HasPrefix(words[0], "/") {
		return d.Errf("upstream: unexpected '%s', expected %s", words[0], form)
	}
	j.Upstream = words[0]
	return nil
}

// readSpan reads a duration for a word that may be given once.
func readSpan(d *caddyfile.Dispenser, into *time.Duration) error {
	if err := parse.Once(d, *into != 0); err != nil {
		return err
	}
	t, err := parse.Duration(d)
	*into = time.Duration(t)
	return err
}
