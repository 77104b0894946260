package openapi

import (
	"strconv"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// described are the failures that operations name.
var described = []int{400, 401, 403, 404, 406, 409, 412, 413, 415, 422, 429, 503}

// headers of failures: who may ask again is told when, and who has no token where to get one.
var failureHeaders = map[int]object{
	401: {"WWW-Authenticate": header("What is asked for (RFC 6750), and where tokens come from (RFC 9728).", "")},
	429: {"Retry-After": seconds("Seconds after which a request may pass.")},
	503: {"Retry-After": seconds("Seconds after which asking again is worth it.")},
}

// failures are the answers that all operations share.
func failures() object {
	all := object{}
	content := object{
		"application/json":         object{"schema": ref("schemas", "Error")},
		"application/problem+json": object{"schema": ref("schemas", "Problem")},
	}
	for _, status := range described {
		one := object{"description": envelope.Lookup(status).Message, "content": content}
		if h := failureHeaders[status]; h != nil {
			one["headers"] = h
		}
		all[strconv.Itoa(status)] = one
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

func header(text, format string) object {
	schema := object{"type": "string"}
	if format != "" {
		schema["format"] = format
	}
	return object{"description": text, "schema": schema}
}

func seconds(text string) object {
	return object{"description": text, "schema": object{"type": "integer", "minimum": 0}}
}

// common are the schemas that do not depend on what is declared.
func common() object {
	text := object{"type": "string"}
	number := object{"type": []string{"integer", "null"}, "minimum": 0}
	field := object{"type": []string{"string", "null"}, "description": "The parameter or member at fault."}
	return object{
		"Error": object{"type": "object", "required": []string{"error"}, "properties": object{"error": ref("schemas", "Failure")}},
		"Failure": object{
			"type": "object", "required": []string{"code", "message", "field"},
			"properties": object{"code": text, "message": text, "field": field},
		},
		"Problem": object{
			"type": "object", "description": "The same as RFC 9457 has it, for those who prefer application/problem+json.",
			"properties": object{"type": text, "title": text, "status": object{"type": "integer"}, "detail": text, "code": text, "field": field},
		},
		"Pagination": object{
			"type": "object", "required": []string{"total", "page", "limit", "total_pages"},
			"properties": object{
				"total": number, "page": object{"type": "integer", "minimum": 1}, "limit": object{"type": "integer", "minimum": 1}, "total_pages": number,
			},
		},
		"CursorPagination": object{
			"type": "object", "required": []string{"total", "page", "limit", "total_pages", "next_cursor"},
			"properties": object{
				"total": number, "page": object{"type": "integer", "minimum": 1}, "limit": object{"type": "integer", "minimum": 1}, "total_pages": number,
				"next_cursor": object{"type": []string{"string", "null"}, "description": "What cursor is for the next page, null on the last."},
			},
		},
		"Link": object{
			"type": "object", "required": []string{"rel", "method", "href"},
			"properties": object{"rel": text, "method": text, "href": object{"type": "string", "format": "uri-reference"}},
		},
	}
}
