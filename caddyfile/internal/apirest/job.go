package apirest

import (
	"cmp"
	"errors"
	"slices"
	"strings"

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
func (b *block) readJob(d *caddyfile.Dispenser) error {
	head := d.Token()
	if !d.NextArg() {
		return d.Err("job: expected a path such as import-jobs")
	}
	j := job.Config{Path: parse.UndoShorthands(d.Val())}
	if d.NextArg() {
		return d.Errf("job %s: unexpected argument '%s', expected a block", j.Path, d.Val())
	}
	if slices.ContainsFunc(b.Jobs, func(other job.Config) bool { return samePath(other.Path, j.Path) }) {
		return d.Errf("job %s is given twice", j.Path)
	}
	words := jobWords(&j)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		line := d.Token()
		if err := words.Read(d, "job"); err != nil {
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

func jobWords(j *job.Config) parse.Words {
	return parse.Words{
		"upstream":   func(d *caddyfile.Dispenser) error { return readJobUpstream(d, j) },
		"fetch":      parse.Once(&j.Fetch, readFetch),
		"progress":   parse.Once(&j.Progress, parse.Text("a JSON Pointer such as /percent")),
		"result":     parse.Once(&j.Result, parse.Text("a JSON Pointer such as /result")),
		"retry":      parse.Once(&j.Retry, parse.Number),
		"when":       parse.Once(&j.When, parse.Choice("always", "preferred")),
		"name":       parse.Once(&j.Name, parse.Text("a name such as nightly-imports")),
		"timeout":    parse.Once(&j.Timeout, parse.Duration),
		"keep":       parse.Once(&j.Keep, parse.Duration),
		"queue":      parse.Once(&j.Queue, parse.Number),
		"per_client": parse.Once(&j.PerClient, parse.Number),
		"workers":    parse.Once(&j.Workers, parse.Number),
	}
}

func readJobUpstream(d *caddyfile.Dispenser, j *job.Config) error {
	const form = "the upstream's path and query, and perhaps a method in front, such as `upstream POST /api.php?mod=import`"
	if err := parse.CheckOnce(d, j.Upstream != ""); err != nil {
		return err
	}
	words, err := parse.LiteralArguments(form)(d)
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
