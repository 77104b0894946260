package openapi

import (
	_ "embed"
	"encoding/json"
	"strconv"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// failureHeaders are the statuses of failures that operations name, with their header fields.
var failureHeaders = map[int]object{
	400: nil, 403: nil, 404: nil, 406: nil, 409: nil, 412: nil, 413: nil, 415: nil, 422: nil,
	401: {"WWW-Authenticate": header("What is asked for (RFC 6750), and where tokens come from (RFC 9728).", "")},
	429: {"Retry-After": seconds("Seconds after which a request may pass.")},
	503: {"Retry-After": seconds("Seconds after which asking again is worth it.")},
}

// failures returns the responses that all operations share.
func failures() object {
	all := object{}
	content := object{
		"application/json":         object{"schema": ref("schemas", "Error")},
		"application/problem+json": object{"schema": ref("schemas", "Problem")},
	}
	for status, headers := range failureHeaders {
		one := object{"description": envelope.Lookup(status).Message, "content": content}
		if headers != nil {
			one["headers"] = headers
		}
		all[strconv.Itoa(status)] = one
	}
	all["failure"] = object{"description": "Any other failure.", "content": content}
	return all
}

// responses returns the responses of an operation by status.
func responses(op object) object {
	all, _ := op["responses"].(object)
	return all
}

// refuse adds failures to an operation.
func refuse(op object, statuses ...int) {
	for _, s := range statuses {
		responses(op)[strconv.Itoa(s)] = ref("responses", strconv.Itoa(s))
	}
	responses(op)["default"] = ref("responses", "failure")
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

//go:embed schemas.json
var schemas []byte

// common returns the schemas that do not depend on the configuration. That of jobs is there if the API has jobs.
func common(jobs bool) (all object) {
	if err := json.Unmarshal(schemas, &all); err != nil {
		panic(err) // the file is part of the program
	}
	if !jobs {
		delete(all, "Job")
	}
	return all
}
