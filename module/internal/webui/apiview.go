package webui

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

type apiView struct {
	T                                           apiTexts
	Style                                       template.HTML
	Title, Version, Description, Server, Source string
	Groups                                      []apiGroup
	Schemas                                     []apiSchema
}

type apiGroup struct {
	Name       string
	Operations []apiOperation
}

type apiSchema struct {
	Name string
	Text []apiPart
}

type apiOperation struct {
	ID, Method, Path, Summary, Description string
	Media                                  []string
	Body                                   apiBody
	Deprecated, Guarded                    bool
	Scopes                                 []string
	Parameters                             []apiParameter
	Responses                              []apiResponse
}

type apiParameter struct {
	Name        string          `json:"name"`
	In          string          `json:"in"`
	Required    bool            `json:"required"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Type        string          `json:"-"`
}

type apiResponse struct {
	Status, Description string
	Headers             []string
	Body                apiBody
}

// Shown reports whether the body is shown as a table: those of errors are all alike.
func (r apiResponse) Shown() bool { return strings.HasPrefix(r.Status, "2") && len(r.Body.Fields) > 0 }

// apiDocument is the part of a description that is shown.
type apiDocument struct {
	Info    struct{ Title, Version, Description string }
	Servers []struct{ URL string }
	Tags    []struct{ Name string }
	Paths   map[string]map[string]json.RawMessage
	// Components that operations refer to, and schemas.
	Components struct {
		Responses map[string]apiAnswer
		Schemas   map[string]json.RawMessage
	}

	merges int // schemas that were read for the current body
}

// apiAnswer is a response, or a reference to one.
type apiAnswer struct {
	Description string
	Ref         string `json:"$ref"`
	Headers     map[string]json.RawMessage
	Content     map[string]apiContent
}

type apiContent struct{ Schema json.RawMessage }

// apiMethods are the methods in the order in which they are shown.
var apiMethods = []string{"get", "post", "put", "patch", "delete"}

func readAPI(document []byte) (*apiView, error) {
	var d apiDocument
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("webui: reading a description: %w", err)
	}
	v := &apiView{Title: d.Info.Title, Version: d.Info.Version, Description: d.Info.Description}
	if len(d.Servers) > 0 {
		v.Server = d.Servers[0].URL
	}
	groups := make(map[string]int)
	for _, t := range d.Tags {
		groups[t.Name] = len(v.Groups)
		v.Groups = append(v.Groups, apiGroup{Name: t.Name})
	}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		var shared []apiParameter
		if raw := d.Paths[path]["parameters"]; raw != nil {
			if err := json.Unmarshal(raw, &shared); err != nil {
				return nil, fmt.Errorf("webui: reading a description: %w", err)
			}
		}
		for _, method := range apiMethods {
			raw := d.Paths[path][method]
			if raw == nil {
				continue
			}
			op, tag, err := d.describeOperation(raw, shared)
			if err != nil {
				return nil, fmt.Errorf("webui: reading a description: %w", err)
			}
			op.Method, op.Path = strings.ToUpper(method), path
			if at, ok := groups[tag]; ok {
				v.Groups[at].Operations = append(v.Groups[at].Operations, op)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		v.Schemas = append(v.Schemas, apiSchema{name, linkSchemas(d.Components.Schemas[name])})
	}
	return v, nil
}

func (d *apiDocument) describeOperation(raw json.RawMessage, shared []apiParameter) (op apiOperation, tag string, err error) {
	var o struct {
		OperationID          string
		Tags                 []string
		Summary, Description string
		Deprecated           bool
		Security             []map[string][]string
		Parameters           []apiParameter
		RequestBody          struct{ Content map[string]apiContent }
		Responses            map[string]apiAnswer
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return op, "", err
	}
	op = apiOperation{ID: o.OperationID, Summary: o.Summary, Description: o.Description, Deprecated: o.Deprecated, Parameters: append(slices.Clone(shared), o.Parameters...)}
	if op.Description == op.Summary+"." {
		op.Description = "" // who has opened it has read that
	}
	for i := range op.Parameters {
		d.merges = 0
		m := d.mergeSchemas([]json.RawMessage{op.Parameters[i].Schema})
		op.Parameters[i].Type = m.constraints()
	}
	for _, need := range o.Security {
		op.Guarded = true
		for _, scopes := range need {
			op.Scopes = append(op.Scopes, scopes...)
		}
	}
	op.Media = slices.Sorted(maps.Keys(o.RequestBody.Content))
	if c, ok := o.RequestBody.Content["application/json"]; ok {
		op.Body = d.describeBody(c.Schema, true)
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		a := o.Responses[status]
		if name, ok := strings.CutPrefix(a.Ref, "#/components/responses/"); ok {
			a = d.Components.Responses[name]
		}
		op.Responses = append(op.Responses, apiResponse{
			Status: status, Description: a.Description, Headers: slices.Sorted(maps.Keys(a.Headers)), Body: d.describeBody(a.Content["application/json"].Schema, false),
		})
	}
	if len(o.Tags) > 0 {
		tag = o.Tags[0]
	}
	return op, tag, nil
}
