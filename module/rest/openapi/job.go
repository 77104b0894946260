package openapi

import "github.com/gatehouse/gatehouse/module/rest/job"

// job describes what makes a job, and the jobs themselves.
func (d *document) job(c job.Config) {
	d.schemas["Job"] = jobSchema()
	body := object{"type": "object"}
	if c.Fetch != nil {
		body["required"] = []string{c.Fetch.Field}
		body["properties"] = object{c.Fetch.Field: object{"type": "string", "format": "uri", "description": "The address of the file."}}
	}
	responses := object{"202": object{
		"description": "The job waits.",
		"headers": object{
			"Location":    object{"description": "The address of the job.", "schema": object{"type": "string", "format": "uri-reference"}},
			"Retry-After": object{"description": "Seconds after which asking is worth it.", "schema": object{"type": "integer"}},
		},
		"content": object{"application/json": object{"schema": ref("schemas", "Job")}},
	}}
	if c.When == "preferred" {
		responses["200"] = object{"description": "The work is done, since no job was asked for (Prefer, RFC 7240)."}
	}
	op := object{
		"summary": "Begin " + c.Path, "description": "Begins work that outlives the request.", "responses": responses,
		"requestBody": object{"required": c.Fetch != nil, "content": object{"application/json": object{"schema": body}}},
	}
	refuse(op, 400, 413, 415)
	d.add("POST", "/"+c.Path, c.Path, op)
	if d.paths[d.place("/jobs/{id}")] != nil {
		return
	}
	read := object{"summary": "Read a job", "description": "How far a job is. Only who began it can read it.", "responses": object{
		"200": object{"description": "The job.", "content": object{"application/json": object{"schema": ref("schemas", "Job")}}},
	}}
	d.add("GET", "/jobs/{id}", "jobs", read)
	end := object{"summary": "Cancel a job", "description": "Cancels a job that waits or runs.", "responses": object{
		"204": object{"description": "It is cancelled."},
	}}
	refuse(end, 409)
	d.add("DELETE", "/jobs/{id}", "jobs", end)
}

func jobSchema() object {
	at := object{"type": []string{"string", "null"}, "format": "date-time"}
	return object{
		"type": "object", "required": []string{"id", "state"},
		"properties": object{
			"id": object{"type": "string"}, "state": object{"enum": []string{"queued", "running", "succeeded", "failed", "cancelled"}},
			"progress":   object{"type": []string{"integer", "null"}, "minimum": 0, "maximum": 100},
			"created_at": at, "started_at": at, "finished_at": at, "result": object{}, "result_omitted": object{"type": "boolean"},
			"error": object{"type": "object", "properties": object{"code": object{"type": "string"}, "message": object{"type": "string"}}},
		},
	}
}
