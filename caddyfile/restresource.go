package caddyfile

import (
	"errors"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// place is where a resource belongs.
type place struct {
	// put puts it into those around it.
	put func(resource.Resource) resource.Resource
	// saw is told where a path stands in the file.
	saw func(path string, at caddyfile.Token)
	// unlessAsked is told of an error that is none if the API's dialect refuses what is not JSON.
	unlessAsked func(error)
}

// readResource reads a resource.
//
//	resource <path> {
//		upstream <METHOD> <path> [<METHOD>] <template> [as form|json|multipart [<name>=<value>...]] [override] # placeholders in path: {id}, {id:<expression>}
//		upstream <METHOD> <path> [<METHOD>] <template> as xml <root> [override]
//		upstream <METHOD> <path> [POST] <template> rpc|xmlrpc <method> [<parameters>]
//		list { ... }
//		list|created|deleted|batch off
//		item [read|create|replace|update|action] <pointer>
//		id <pointer>
//		rename <ours>=<upstream's name, or pointer in answers>...
//		drop <names or pointers...>
//		wrap <name>
//		values <field> <ours>[=<upstream's>]...
//		replace <fields...>
//		created 201 [<pointer>]
//		deleted 204
//		query <parameter>[=<upstream's>]...
//		pass <media types...>
//		fail_when [list|read|create|replace|update|delete|action] ... # as in errors
//		links self|delete|<name>=<METHOD>:<path>...
//		batch <fields...>
//		batch_max <n>
//		validate <field> <constraints...>
//		schema <file> [<pointer>]
//		idempotency
//		etag
//		header_down <names...>
//		send fixed [<operations...>] [query|body|header] <name>=<value>...
//		header_up Cookie
//		charset <name>
//		from xml <root> [list <elements...>]
//		nested <path> { ... }
//	}
func readResource(d *caddyfile.Dispenser, around place) (r resource.Resource, err error) {
	head, word := d.Token(), d.Val()
	if !d.NextArg() {
		return r, d.Errf("%s: expected a path such as articles", word)
	}
	r.Path = short(d.Val())
	if d.NextArg() {
		return r, d.Errf("%s %s: unexpected argument '%s', expected a block or nothing", word, r.Path, d.Val())
	}
	inContext := func(r resource.Resource) []resource.Resource { return []resource.Resource{around.put(r)} }
	usual, err := restapi.CompileResources(inContext(resource.Resource{Path: r.Path, Off: []string{"batch"}}))
	if err != nil {
		return r, at(head, err)
	}
	all := usual.Operations()
	around.saw(all[len(all)-1].Path, head)
	// Each word is judged with those before it, so that the line is the one that is wrong;
	// but links and batches, which speak of routes that may stand behind them, at the end.
	soFar := func() resource.Resource {
		one := r
		one.Links, one.Batch, one.BatchMax = nil, nil, 0
		return one
	}
	lines := make(map[string]caddyfile.Token)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		line, word := d.Token(), d.Val()
		lines[word] = line
		if err := resourceWord(d, &r, around); err != nil {
			return r, err
		}
		if _, err := restapi.CompileResources(inContext(soFar())); err != nil {
			return r, at(line, err)
		}
		if word == "upstream" {
			last := r.Routes[len(r.Routes)-1]
			lines[word+" "+last.Method+" "+last.Path] = line
			around.saw(last.Path, line)
		}
	}
	whole, one := usual, soFar()
	for _, word := range []string{"links", "batch", "batch_max"} {
		switch word {
		case "links":
			one.Links = r.Links
		case "batch":
			one.Batch = r.Batch
		default:
			one.BatchMax = r.BatchMax
		}
		if whole, err = restapi.CompileResources(inContext(one)); err != nil {
			return r, at(lines[word], err)
		}
	}
	var idle *resource.IdleError
	if errors.As(whole.CheckIdle(r.Path, true), &idle) {
		return r, at(lines[idle.Word], idle)
	}
	if errors.As(whole.CheckIdle(r.Path, false), &idle) {
		around.unlessAsked(at(lines[idle.Word], idle))
	}
	return r, nil
}

func resourceWord(d *caddyfile.Dispenser, r *resource.Resource, around place) (err error) {
	switch d.Val() {
	case "upstream":
		err = route(d, r)
	case "list":
		if off, err := turnedOff(d, r); off || err != nil {
			return err
		}
		if err := once(d, r.List != nil); err != nil {
			return err
		}
		r.List = new(list.Config)
		err = readList(d, r.List)
	case "item":
		err = item(d, r)
	case "id":
		err = text(d, &r.ID, "a JSON Pointer such as /aid")
	case "rename":
		err = rename(d, r)
	case "drop":
		r.Drop, err = fields(d, r.Drop, "the API's names of members, such as _links, or pointers such as /meta/debug")
	case "wrap":
		err = text(d, &r.Wrap, "the name of a member such as article")
	case "unwrap":
		err = d.Err("unwrap: `item` says where the resource is in an answer, expected `item /<name>`")
	case "values":
		err = values(d, r)
	case "replace":
		r.Replace, err = fields(d, r.Replace, fieldNames)
	case "created":
		err = created(d, r)
	case "deleted":
		err = deleted(d, r)
	case "links":
		err = links(d, r)
	case "query":
		r.Query, err = names(d, r.Query, "parameters such as lang, or lang=hl where the upstream has another name")
	case "pass":
		r.Pass, err = passed(d, r.Pass)
	case "fail_when":
		err = resourceFailWhen(d, r)
	case "batch":
		if off, err := turnedOff(d, r); off || err != nil {
			return err
		}
		r.Batch, err = fields(d, r.Batch, fieldNames)
	case "batch_max":
		if r.BatchMax != 0 {
			return d.Err("batch_max is given twice")
		}
		r.BatchMax, err = number(d)
	case "validate":
		err = rule(d, r)
	case "schema":
		err = schema(d, r)
	case "idempotency":
		err = flag(d, &r.Idempotency)
	case "etag":
		err = flag(d, &r.ETag)
	case "send":
		r.Fixed, err = sendFixed(d, r.Fixed)
	case "header_down":
		r.HeaderDown, err = headers(d, r.HeaderDown)
	case "header_up":
		r.HeaderUp, err = headers(d, r.HeaderUp)
	case "nested":
		err = nested(d, r, around)
	case "charset":
		err = charsetName(d, &r.Charset)
	case "from":
		err = fromXML(d, r)
	default:
		err = unknown(d, "resource", "upstream", "list", "item", "id", "rename", "drop", "wrap", "values", "replace", "created", "deleted", "links", "query", "pass", "fail_when",
			"batch", "batch_max", "validate", "schema", "idempotency", "etag",
			"header_down", "header_up", "charset", "from", "send", "nested")
	}
	return err
}

// item reads where the resource is in answers, to all operations or to those of one kind.
func item(d *caddyfile.Dispenser, r *resource.Resource) error {
	const form = "a JSON Pointer such as /result, and perhaps read, create, replace, update or action in front"
	words, err := args(d, form)
	switch {
	case err != nil:
		return err
	case len(words) > 2:
		return d.Errf("item: unexpected '%s', expected %s", words[2], form)
	case len(words) == 1:
		if r.Item != "" {
			return d.Err("item is given twice")
		}
		r.Item = words[0]
		return nil
	}
	kind := resource.Kind(words[0])
	if _, ok := r.ItemOf[kind]; ok {
		return d.Errf("item %s is given twice", kind)
	}
	if r.ItemOf == nil {
		r.ItemOf = make(map[resource.Kind]string)
	}
	r.ItemOf[kind] = words[1]
	return nil
}

func nested(d *caddyfile.Dispenser, r *resource.Resource, around place) error {
	path := r.Path
	below, err := readResource(d, place{func(below resource.Resource) resource.Resource {
		return around.put(resource.Resource{Path: path, Nested: []resource.Resource{below}})
	}, around.saw, around.unlessAsked})
	if err != nil {
		return err
	}
	for _, other := range r.Nested {
		if strings.Trim(other.Path, "/") == strings.Trim(below.Path, "/") {
			return d.Errf("nested %s is given twice", below.Path)
		}
	}
	r.Nested = append(r.Nested, below)
	return nil
}

// route reads what is sent upstream for a request.
func route(d *caddyfile.Dispenser, r *resource.Resource) error {
	const form = "a method, a path, the upstream's method if it is another, and its path and query, such as `upstream GET /articles/{id} /api.php?aid={id}`"
	line := *d
	words, err := args(d, form)
	if err != nil {
		return err
	}
	var to resource.Route
	if words, to.RPC, err = call(d, words); err != nil {
		return err
	}
	if words, to.Members, err = placed(d, line, words); err != nil {
		return err
	}
	if n := len(words); words[n-1] == "override" {
		to.Override, words = true, words[:n-1]
	}
	if n := len(words); n > 2 && words[n-3] == "as" && words[n-2] == "xml" {
		to.As, to.XMLRoot, words = "xml", words[n-1], words[:n-3]
	}
	if n := len(words); n > 1 && words[n-2] == "as" {
		to.As, words = words[n-1], words[:n-2]
	}
	if len(words) == 4 {
		to.UpstreamMethod = words[2]
		words = slices.Delete(words, 2, 3)
	}
	if len(words) != 3 {
		return d.Errf("upstream: expected %s", form)
	}
	to.Method, to.Path, to.Upstream = words[0], words[1], words[2]
	for _, other := range r.Routes {
		if other.Method == to.Method && other.Path == to.Path {
			return d.Errf("upstream %s %s is given twice", to.Method, to.Path)
		}
	}
	r.Routes = append(r.Routes, to)
	return nil
}

// passed reads the media types that pass as they are.
func passed(d *caddyfile.Dispenser, before []string) ([]string, error) {
	if err := once(d, len(before) > 0); err != nil {
		return nil, err
	}
	return args(d, "media types such as text/csv or image/*")
}

func values(d *caddyfile.Dispenser, r *resource.Resource) error {
	const form = "a field and its words, such as `values state published=1 draft=0`"
	if !d.NextArg() {
		return d.Errf("values: expected %s", form)
	}
	field := d.Val()
	if strings.Contains(field, "=") {
		return d.Errf("values: unexpected '%s', expected %s", field, form)
	}
	if _, ok := r.Values[field]; ok {
		return d.Errf("values %s is given twice", field)
	}
	if d.CountRemainingArgs() == 0 {
		return d.Errf("values %s: expected words such as draft, or draft=0 where the upstream has another value", field)
	}
	words := make(map[string]string)
	for d.NextArg() {
		p, err := cut(d, "values "+field, short(d.Val()), "words such as draft, or draft=0 where the upstream has another value", true)
		if err != nil {
			return err
		}
		if _, ok := words[p[0]]; ok {
			return d.Errf("values %s: %s is given twice", field, p[0])
		}
		words[p[0]] = p[1]
	}
	if r.Values == nil {
		r.Values = make(map[string]map[string]string)
	}
	r.Values[field] = words
	return nil
}

// fieldNames is what is expected where fields of the client are named.
const fieldNames = "names of fields such as title tags"

// fields reads names of members, which are expected to look like the example, and adds them to
// those before.
func fields(d *caddyfile.Dispenser, before []string, expected string) ([]string, error) {
	word := d.Val()
	added, err := args(d, expected)
	if err != nil {
		return nil, err
	}
	for _, name := range added {
		if slices.Contains(before, name) {
			return nil, d.Errf("%s: %s is given twice", word, name)
		}
		before = append(before, name)
	}
	return before, nil
}

// turnedOff reads `off` behind the word of a convention, if that stands there.
func turnedOff(d *caddyfile.Dispenser, r *resource.Resource) (bool, error) {
	word := d.Val()
	if !d.NextArg() {
		return false, nil
	}
	if d.Val() != "off" || d.CountRemainingArgs() > 0 {
		d.Prev()
		return false, nil
	}
	if slices.Contains(r.Off, word) {
		return true, d.Errf("%s off is given twice", word)
	}
	r.Off = append(r.Off, word)
	return true, nil
}

func created(d *caddyfile.Dispenser, r *resource.Resource) error {
	if off, err := turnedOff(d, r); off || err != nil {
		return err
	}
	if err := once(d, r.Created != nil); err != nil {
		return err
	}
	words := d.RemainingArgs()
	if len(words) == 0 || len(words) > 2 || words[0] != "201" {
		return d.Err("created: expected 201, and perhaps a JSON Pointer of the new id such as /result/id, or off")
	}
	r.Created = &resource.Created{Status: 201}
	if len(words) == 2 {
		r.Created.ID = words[1]
	}
	return nil
}

func deleted(d *caddyfile.Dispenser, r *resource.Resource) error {
	if off, err := turnedOff(d, r); off || err != nil {
		return err
	}
	if err := once(d, r.Deleted != 0); err != nil {
		return err
	}
	status, err := one(d, "204 or off")
	if err == nil && status != "204" {
		err = d.Errf("deleted: unexpected '%s', expected 204 or off", status)
	}
	r.Deleted = 204
	return err
}
