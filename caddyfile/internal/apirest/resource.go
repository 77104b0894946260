package apirest

import (
	"errors"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/apierrors"
	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// surroundings are those of a resource.
type surroundings struct {
	outer []string // paths of the resources that it is nested in, from the outermost one
	// eachWord says that the resource is compiled after each of its words, so that an error has its line.
	eachWord bool
}

// compile compiles a resource in its surroundings.
func (s surroundings) compile(r resource.Resource) (*restapi.Table, error) {
	for _, path := range slices.Backward(s.outer) {
		r = resource.Resource{Path: path, Nested: []resource.Resource{r}}
	}
	return restapi.CompileResources(r)
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
func (b *block) readResource(d *caddyfile.Dispenser, around surroundings) (resource.Resource, error) {
	reader := b.takeReader(around)
	err := b.readResourceInto(d, reader)
	read := reader.Resource
	b.readers = append(b.readers, reader)
	return read, err
}

// resourceReader has a resource that is being read, and the words that set its fields. There is one for each level of
// nesting, for all resources: the words are many.
type resourceReader struct {
	resource.Resource
	words  parse.Words
	around surroundings
}

func (b *block) takeReader(around surroundings) *resourceReader {
	if last := len(b.readers) - 1; last >= 0 {
		r := b.readers[last]
		b.readers = b.readers[:last]
		r.Resource, r.around = resource.Resource{}, around
		return r
	}
	r := &resourceReader{around: around}
	r.words = b.resourceWords(r)
	return r
}

func (b *block) readResourceInto(d *caddyfile.Dispenser, reader *resourceReader) error {
	r, around := &reader.Resource, reader.around
	head, word := d.Token(), d.Val()
	if !d.NextArg() {
		return d.Errf("%s: expected a path such as articles", word)
	}
	r.Path = parse.UndoShorthands(d.Val())
	if d.NextArg() {
		return d.Errf("%s %s: unexpected argument '%s', expected a block or nothing", word, r.Path, d.Val())
	}
	if around.eachWord {
		if _, err := around.compile(resource.Resource{Path: r.Path, Off: []string{"batch"}}); err != nil {
			return parse.ErrorAt(head, err)
		}
	}
	item, err := restapi.ItemPath(append(slices.Clone(around.outer), r.Path)...)
	if err != nil {
		return err
	}
	b.notePath(item, head)
	var lines map[string]caddyfile.Token
	if around.eachWord {
		lines = make(map[string]caddyfile.Token)
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		line, word := d.Token(), d.Val()
		if word == "unwrap" {
			return d.Err("unwrap: `item` says where the resource is in an answer, expected `item /<name>`")
		}
		if err := reader.words.Read(d, "resource"); err != nil {
			return err
		}
		if word == "upstream" {
			b.notePath(r.Routes[len(r.Routes)-1].Path, line)
		}
		if !around.eachWord {
			continue
		}
		if _, err := around.compile(withoutForwardReferences(*r)); err != nil {
			return parse.ErrorAt(line, err)
		}
		lines[word] = line
		if word == "upstream" {
			last := r.Routes[len(r.Routes)-1]
			lines[word+" "+last.Method+" "+last.Path] = line
		}
	}
	if !around.eachWord {
		return nil
	}
	return b.checkWhole(*r, lines, around)
}

// withoutForwardReferences leaves out links and batches, which may refer to routes further down.
func withoutForwardReferences(r resource.Resource) resource.Resource {
	r.Links, r.Batch, r.BatchMax = nil, nil, 0
	return r
}

// checkWhole checks what is known when all words of a resource have been read. lines are those
// of its words.
func (b *block) checkWhole(r resource.Resource, lines map[string]caddyfile.Token, around surroundings) error {
	checked := withoutForwardReferences(r)
	checked.Links = r.Links
	if _, err := around.compile(checked); err != nil {
		return parse.ErrorAt(lines["links"], err)
	}
	checked.Batch = r.Batch
	if _, err := around.compile(checked); err != nil {
		return parse.ErrorAt(lines["batch"], err)
	}
	whole, err := around.compile(r)
	if err != nil {
		return parse.ErrorAt(lines["batch_max"], err)
	}
	var idle *resource.IdleError
	if errors.As(whole.CheckIdle(r.Path, true), &idle) {
		return parse.ErrorAt(lines[idle.Word], idle)
	}
	if errors.As(whole.CheckIdle(r.Path, false), &idle) {
		b.unlessJSON = append(b.unlessJSON, parse.ErrorAt(lines[idle.Word], idle))
	}
	return nil
}

func (b *block) resourceWords(reader *resourceReader) parse.Words {
	r := &reader.Resource
	// into has a word read that sets more than one field.
	into := func(read func(*caddyfile.Dispenser, *resource.Resource) error) parse.Word {
		return func(d *caddyfile.Dispenser) error { return read(d, r) }
	}
	return parse.Words{
		"upstream":    into(readRoute),
		"list":        orOff(r, func(d *caddyfile.Dispenser) error { return readResourceList(d, r) }),
		"item":        into(readItem),
		"id":          parse.Once(&r.ID, parse.Text("a JSON Pointer such as /aid")),
		"rename":      readRename(r),
		"drop":        parse.List(&r.Drop, "the API's names of members, such as _links, or pointers such as /meta/debug"),
		"wrap":        parse.Once(&r.Wrap, parse.Text("the name of a member such as article")),
		"values":      into(readValues),
		"replace":     parse.List(&r.Replace, fieldNames),
		"created":     orOff(r, parse.Once(&r.Created, readCreated)),
		"deleted":     orOff(r, parse.Once(&r.Deleted, readDeleted)),
		"links":       readLinks(&r.Links),
		"query":       readNames(&r.Query, "parameters such as lang, or lang=hl where the upstream has another name"),
		"pass":        parse.List(&r.Pass, "media types such as text/csv or image/*"),
		"fail_when":   parse.Append(&r.FailWhen, readFailWhen),
		"batch":       orOff(r, parse.List(&r.Batch, fieldNames)),
		"batch_max":   parse.Once(&r.BatchMax, parse.Number),
		"validate":    into(readValidate),
		"schema":      parse.Once(&r.Schema, readSchema),
		"idempotency": parse.Flag(&r.Idempotency),
		"etag":        parse.Flag(&r.ETag),
		"send":        readFixed(&r.Fixed),
		"header_down": parse.List(&r.HeaderDown, headerDownForm),
		"header_up":   parse.List(&r.HeaderUp, headerUpForm),
		"nested":      func(d *caddyfile.Dispenser) error { return b.readNested(d, r, reader.around) },
		"charset":     parse.Once(&r.Charset, apierrors.ReadCharset),
		"from":        parse.Once(&r.FromXML, readFromXML),
	}
}

func readResourceList(d *caddyfile.Dispenser, r *resource.Resource) error {
	if err := parse.CheckOnce(d, r.List != nil); err != nil {
		return err
	}
	r.List = new(list.Config)
	return readList(d, r.List)
}
