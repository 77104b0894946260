package openapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// sentences say what an operation does with the last word of its path.
var sentences = map[resource.Kind]string{
	resource.List: "List the ", resource.Read: "Read the ", resource.Create: "Add to the ", resource.Replace: "Replace the ", resource.Update: "Change the ",
	resource.Delete: "Delete the ", resource.Batch: "Change several of the ", resource.Action: "Call ",
}

// sentence is what an operation does.
func sentence(o *routes.Operation) string {
	words, verb := strings.Split(o.Path, "/"), sentences[o.Kind]
	if strings.HasSuffix(o.Path, "}") && o.Kind != resource.Action {
		verb = strings.TrimSuffix(verb, "the ") + "one of the "
	}
	for i := len(words) - 1; i > 0; i-- {
		if !strings.HasPrefix(words[i], "{") {
			return verb + words[i]
		}
	}
	return strings.TrimSuffix(verb, " the ")
}

func (d *document) operation(o *routes.Operation) {
	words := sentence(o)
	op := object{"summary": words, "description": words + ".", "responses": object{}}
	switch o.Kind {
	case resource.List:
		op["parameters"] = parameters(o.Resource.List)
		done := d.answer(op, "200", "A page of the list.", d.page(o))
		if o.Requests.ByCursor() {
			heads(done, "Link", header("Where the first and next pages are (RFC 8288).", ""))
		} else {
			heads(done, "Link", header("Where the first, previous, next and last pages are (RFC 8288).", ""))
		}
		refuse(op, 400)
	case resource.Create:
		d.create(op, o)
	case resource.Replace, resource.Update:
		d.answer(op, "200", "The resource as it is now.", ref("schemas", d.read(o)))
		d.answer(op, "2XX", "It was accepted, or done without an answer that shows the resource.", nil)
		d.body(op, o)
	case resource.Action:
		d.answer(op, "2XX", "It was done.", ref("schemas", d.read(o)))
		d.body(op, o)
	case resource.Delete:
		deleted, declared := o.Resource.DeletedStatus()
		d.done(op, deleted, declared, "It is gone.", nil)
	case resource.Batch:
		d.batch(op, o)
	default:
		text, schema := "The resource.", ref("schemas", d.read(o))
		if o.Kind == resource.Read && o.Answers.ListLike() {
			text, schema = "A page of the list, where the API answers with one.", object{"anyOf": []object{d.page(o), schema}}
		}
		d.answer(op, "200", text, schema)
	}
	passedOn(op, o)
	d.conditions(op, o)
	d.repetition(op, o)
	d.add(o.Method, o.Path, tagOf(o.Path), op, o.Expressions()...)
}

// page is the schema of a page of a list.
func (d *document) page(o *routes.Operation) object {
	pagination := "Pagination"
	switch {
	case o.Requests.ByCursor():
		pagination = "CursorPagination"
	case o.Answers.ListLike():
		pagination = "UndeclaredPagination"
	}
	return object{
		"type": "object", "required": []string{"data", "pagination"},
		"properties": object{"data": object{"type": "array", "items": ref("schemas", d.read(o))}, "pagination": ref("schemas", pagination)},
	}
}

// done adds the success of a creation or deletion. Without a status it is the upstream's; one that is not declared
// replaces only some of the upstream's.
func (d *document) done(op object, status int, declared bool, text string, schema object) object {
	if status == 0 {
		return d.answer(op, "2XX", text, schema)
	}
	if !declared {
		d.answer(op, "2XX", "It was accepted, or done in another way.", nil)
	}
	return d.answer(op, strconv.Itoa(status), text, schema)
}

// answer adds a success to an operation. A nil schema is one without a body.
func (d *document) answer(op object, status, text string, schema object) object {
	if schema == nil {
		return respond(op, status, text, nil)
	}
	content := object{"application/json": object{"schema": schema}}
	if d.MediaType != "" {
		content[d.MediaType] = object{"schema": schema}
	}
	return respond(op, status, text, content)
}

// respond adds a response to an operation.
func respond(op object, status, text string, content object) object {
	done := object{"description": text}
	if content != nil {
		done["content"] = content
	}
	responses(op)[status] = done
	return done
}

func heads(answer object, name string, of object) {
	all, _ := answer["headers"].(object)
	if all == nil {
		all = object{}
		answer["headers"] = all
	}
	all[name] = of
}

func (d *document) create(op object, o *routes.Operation) {
	created, declared := o.Resource.CreatedStatus()
	done := d.done(op, created, declared, "It was made. Without a body where the API has answered without the resource.", ref("schemas", d.read(o)))
	if created != 0 && o.Answers.Shape.Readable {
		heads(done, "Location", header("The address of what was made.", "uri-reference"))
	}
	d.body(op, o)
}

// conditions are those on the resource's tag (RFC 9110 section 13).
func (d *document) conditions(op object, o *routes.Operation) {
	if !o.Resource.ETag {
		return
	}
	switch o.Kind {
	case resource.List, resource.Read:
		ask(op, "If-None-Match", "Tags that the client has: 304 if one of them is still right.", object{"type": "string"})
		if done, ok := responses(op)["200"].(object); ok {
			heads(done, "ETag", header("The tag of this answer.", ""))
		}
		responses(op)["304"] = object{"description": "The client has it.", "headers": object{"ETag": header("The tag of what the client has.", "")}}
	case resource.Replace, resource.Update, resource.Delete:
		ask(op, "If-Match", "Tags of the resource: 412, and nothing is done, if it has none of them any more.", object{"type": "string"})
		refuse(op, 412)
	}
}

// keyPattern is what an Idempotency-Key looks like: see the package idempotent.
const keyPattern = `^("[ !#-\[\]-~]{1,255}"|[ !#-\[\]-~]{1,255})$`

// repetition is what Idempotency-Key does.
func (d *document) repetition(op object, o *routes.Operation) {
	if !o.Resource.Idempotency || o.Method != http.MethodPost {
		return
	}
	ask(op, "Idempotency-Key", "Whoever repeats a request with its key is given the first answer, and nothing is done again. Kept for 24 hours. "+
		"1 to 255 printable ASCII characters, in quotes or without. With another body or address it is 422, and 409 while the first request is not answered.",
		object{"type": "string", "minLength": 1, "maxLength": 257, "pattern": keyPattern})
	for status, r := range responses(op) {
		if done, ok := r.(object); ok && strings.HasPrefix(status, "2") {
			heads(done, "Idempotency-Replayed", object{"description": "Whether this is the answer to an earlier request.", "schema": object{"type": "string", "enum": []string{"true"}}})
		}
	}
	refuse(op, 400, 409, 422, 503)
}

// ask adds a header field of the request.
func ask(op object, name, text string, schema object) {
	addParameters(op, parameter("header", name, text, schema))
}

func addParameters(op object, more ...object) {
	all, _ := op["parameters"].([]object)
	op["parameters"] = append(all, more...)
}

func parameter(in, name, text string, schema object) object {
	return object{"name": name, "in": in, "required": false, "description": text, "schema": schema}
}

// body is the request's.
func (d *document) body(op object, o *routes.Operation) {
	given := object{"schema": d.asked(op, o)}
	content := object{"application/json": given}
	if o.Kind == resource.Update && o.Requests.ReadsBody() {
		content["application/merge-patch+json"] = given
	}
	op["requestBody"] = object{"required": o.Kind != resource.Action, "content": content}
	refuse(op, 400, 413, 415)
}

// tagOf is the first word of a path.
func tagOf(path string) string {
	word, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return word
}
