package webui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

type apiView struct {
	T                              apiTexts
	Style                          template.HTML
	Title, Version, Server, Source string
	Groups                         []apiGroup
	Schemas                        []apiSchema
}

type apiGroup struct {
	Name       string
	Operations []apiOperation
}

type apiSchema struct{ Name, Text string }

type apiOperation struct {
	Method, Path, Summary, Description, Body string
	Deprecated, Guarded                      bool
	Scopes                                   []string
	Parameters                               []apiParameter
	Responses                                []apiResponse
}

type apiParameter struct {
	Name        string          `json:"name"`
	In          string          `json:"in"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

type apiResponse struct{ Status, Description string }

// apiDocument is what is shown of a description.
type apiDocument struct {
	Info    struct{ Title, Version string }
	Servers []struct{ URL string }
	Tags    []struct{ Name string }
	Paths   map[string]map[string]json.RawMessage
	// Components that operations refer to, and schemas.
	Components struct {
		Responses map[string]struct{ Description string }
		Schemas   map[string]json.RawMessage
	}
}

// apiMethods in the order in which they are shown.
var apiMethods = []string{"get", "post", "put", "patch", "delete"}

func readAPI(document []byte) (*apiView, error) {
	var d apiDocument
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("webui: reading a description: %w", err)
	}
	v := &apiView{Title: d.Info.Title, Version: d.Info.Version}
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
				return nil, err
			}
		}
		for _, method := range apiMethods {
			raw := d.Paths[path][method]
			if raw == nil {
				continue
			}
			op, tag, err := d.operation(raw, shared)
			if err != nil {
				return nil, err
			}
			op.Method, op.Path = strings.ToUpper(method), path
			if at, ok := groups[tag]; ok {
				v.Groups[at].Operations = append(v.Groups[at].Operations, op)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		v.Schemas = append(v.Schemas, apiSchema{name, indented(d.Components.Schemas[name])})
	}
	return v, nil
}

func (d *apiDocument) operation(raw json.RawMessage, shared []apiParameter) (op apiOperation, tag string, err error) {
	var o struct {
		Tags                 []string
		Summary, Description string
		Deprecated           bool
		Security             []map[string][]string
		Parameters           []apiParameter
		RequestBody          struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
		Responses map[string]struct {
			Description string
			Ref         string `json:"$ref"`
		}
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return op, "", err
	}
	op = apiOperation{Summary: o.Summary, Description: o.Description, Deprecated: o.Deprecated, Parameters: append(slices.Clone(shared), o.Parameters...)}
	for _, need := range o.Security {
		op.Guarded = true
		for _, scopes := range need {
			op.Scopes = append(op.Scopes, scopes...)
		}
	}
	if c, ok := o.RequestBody.Content["application/json"]; ok {
		op.Body = indented(c.Schema)
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		r := o.Responses[status]
		if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
			r.Description = d.Components.Responses[name].Description
		}
		op.Responses = append(op.Responses, apiResponse{status, r.Description})
	}
	if len(o.Tags) > 0 {
		tag = o.Tags[0]
	}
	return op, tag, nil
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
