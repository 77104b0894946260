package openapi

import (
	"strconv"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// described are the failures that operations name.
var described = []int{400, 401, 403, 404, 409, 413, 415, 422, 429}

// failures are the answers that all operations share.
func failures() object {
	all := object{}
	content := object{
		"application/json":         object{"schema": ref("schemas", "Error")},
		"application/problem+json": object{"schema": ref("schemas", "Problem")},
	}
	for _, status := range described {
		all[strconv.Itoa(status)] = object{"description": envelope.Lookup(status).Message, "content": content}
	}
	all["failure"] = object{"description": "Any other failure.", "content": content}
	return all
}

// refuse adds failures to an operation.
func refuse(op object, statuses ...int) {
	responses, _ := op["responses"].(object)
	for _, s := range statuses {
		responses[strconv.Itoa(s)] = ref("responses", strconv.Itoa(s))
	}
	responses["default"] = ref("responses", "failure")
}

// common are the schemas that do not depend on what is declared.
func common() object {
	text := object{"type": "string"}
	number := object{"type": []string{"integer", "null"}, "minimum": 0}
	field := object{"type": []string{"string", "null"}, "description": "The parameter or member at fault."}
	return object{
		"Error": object{
			"type": "object", "required": []string{"error"},
			"properties": object{"error": object{
				"type": "object", "required": []string{"code", "message", "field"},
				"properties": object{"code": text, "message": text, "field": field},
			}},
		},
		"Problem": object{
			"type":       "object",
			"properties": object{"type": text, "title": text, "status": object{"type": "integer"}, "detail": text, "code": text, "field": field},
		},
		"Pagination": object{
			"type": "object", "required": []string{"total", "page", "limit", "total_pages"},
			"properties": object{
				"total": number, "page": object{"type": "integer", "minimum": 1}, "limit": object{"type": "integer", "minimum": 1}, "total_pages": number,
			},
		},
		"Link": object{
			"type": "object", "required": []string{"rel", "method", "href"},
			"properties": object{"rel": text, "method": text, "href": object{"type": "string", "format": "uri-reference"}},
		},
	}
}
