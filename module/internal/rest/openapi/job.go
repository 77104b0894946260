package openapi

import (
	"fmt"
	"net/http"

	"github.com/gatehouse/gatehouse/module/rest/job"
)

// jobs is the content of responses that are a job, which are never of the vendor's type.
var jobs = object{"application/json": object{"schema": ref("schemas", "Job")}}

// job describes what makes a job, and the jobs themselves.
func (d *document) job(c job.Config) {
	path := "/" + c.Path
	op := d.described(http.MethodPost, path)
	preferred := c.When == "preferred" && op != nil
	if !preferred {
		op = object{
			"summary": "Begin " + c.Path, "description": "Begins work that outlives the request.", "responses": object{},
			"requestBody": jobBody(c),
		}
	} else {
		op["description"] = fmt.Sprint(op["description"], " Becomes a job for whoever prefers that.")
	}
	ask(op, "Prefer", "respond-async, or wait=10 to be answered with the job if it ends in so many seconds (RFC 7240).", object{"type": "string"})
	taken := respond(op, "202", "The job waits or runs.", jobs)
	place := header("The address of the job.", "uri-reference")
	heads(taken, "Location", place)
	heads(taken, "Retry-After", seconds("Seconds after which asking is worth it."))
	heads(taken, "Preference-Applied", header("What was done of what is preferred.", ""))
	switch {
	case preferred:
	case c.When == "preferred":
		respond(op, "2XX", "The work is done, since no job was asked for.", nil)
	default:
		heads(respond(op, "200", "The job has ended while its client waited.", jobs), "Location", place)
	}
	refuse(op, 400, 413, 415, 503)
	if !preferred {
		d.add(http.MethodPost, path, tagOf(path), op)
	}
	d.jobs()
}

// jobBody is the body that a job is made of: the address of a file, or what the upstream takes.
func jobBody(c job.Config) object {
	if c.Fetch == nil {
		return object{"required": false, "description": "What is sent to the upstream, as it comes.", "content": object{"*/*": object{}}}
	}
	return object{"required": true, "content": object{"application/json": object{"schema": object{
		"type": "object", "required": []string{c.Fetch.Field},
		"properties": object{c.Fetch.Field: object{"type": "string", "format": "uri", "description": "The https address of the file."}},
	}}}}
}

func (d *document) jobs() {
	const path = "/jobs/{id}"
	if d.described(http.MethodGet, path) != nil {
		return
	}
	read := object{"summary": "Read a job", "description": "How far a job is. Only who began it can read it.", "responses": object{}}
	heads(respond(read, "200", "The job.", jobs), "Retry-After", seconds("Of a job that has not ended: seconds after which asking again is worth it."))
	refuse(read, 503)
	d.add(http.MethodGet, path, "jobs", read)
	end := object{"summary": "Cancel a job", "description": "Cancels a job that waits or runs. One that has ended otherwise is a conflict.", "responses": object{}}
	respond(end, "204", "It is cancelled, or was before.", nil)
	refuse(end, 409, 503)
	d.add(http.MethodDelete, path, "jobs", end)
}
