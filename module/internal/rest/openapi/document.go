package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// Config is what a description is made from.
type Config struct {
	// Title of the API. Default: API.
	Title string
	// Version of the API, such as v1. Default: 1.
	Version string
	// Server is what stands before every path, such as /v1. Default: /.
	Server string
	// MediaType is the one of answers besides application/json; "" for none.
	MediaType string
	// Deprecated marks every operation.
	Deprecated bool
	// Sunset is when the version ends. Default: nobody has said.
	Sunset time.Time
	Table  *routes.Table
	Jobs   []job.Config
	// Issuer is the authorization server; "" where there is none, and Needs is not asked.
	Issuer string
	// Texts of scopes.
	Texts map[string]string
	// Needs is the guard in front; nil: none.
	Needs Needs
}

// Needs says what a caller must have. Equal values MUST give equal answers.
type Needs interface {
	// Needs returns the scopes that a method on a path asks for, unless it is public, or denied to
	// everybody: then it is not described.
	Needs(method, path string) (scopes []string, public, denied bool)
}

type object = map[string]any

// scheme is the name of the security scheme.
const scheme = "oauth2"

// document is a description in the making.
type document struct {
	Config
	paths   object
	names   map[string]string // the path as it is described, by its shape
	ids     map[string]bool   // of operations
	schemas object
	made    map[made]string // names of schemas
	files   validate.Described
	tags    []object
	tagged  map[string]bool
	scopes  map[string]bool
}

// Document is the description, in JSON. Equal configurations give equal bytes.
func Document(c Config) ([]byte, error) {
	c.Title, c.Version, c.Server = cmp.Or(c.Title, "API"), cmp.Or(c.Version, "1"), cmp.Or(c.Server, "/")
	d := &document{
		Config: c, paths: object{}, names: make(map[string]string), ids: make(map[string]bool), schemas: common(len(c.Jobs) > 0), made: make(map[made]string),
		tags: []object{}, tagged: make(map[string]bool), scopes: make(map[string]bool),
	}
	d.files = validate.Described{Named: d.schemas, Ref: func(name string) string { return "#/components/schemas/" + name }}
	if c.Table != nil {
		for _, o := range c.Table.Operations() {
			d.operation(o)
		}
	}
	for _, j := range c.Jobs {
		d.job(j.Defaulted())
	}
	components, err := used(d.paths, object{"schemas": d.schemas, "responses": failures()})
	if err != nil {
		return nil, err
	}
	if c.Issuer != "" {
		components["securitySchemes"] = object{scheme: d.security()}
	}
	return json.Marshal(object{
		"openapi": "3.1.0", "info": d.info(), "tags": d.tags, "paths": d.paths, "components": components,
		"servers": []object{{"url": c.Server, "description": "This gateway."}},
	})
}

func (d *document) info() object {
	text := "Made by the gateway from what is declared of the API."
	if !d.Sunset.IsZero() {
		text += " This version ends on " + d.Sunset.UTC().Format(time.DateOnly) + "."
	}
	return object{"title": d.Title, "version": d.Version, "description": text}
}

func (d *document) security() object {
	texts := object{}
	for name := range d.scopes {
		texts[name] = cmp.Or(d.Texts[name], name)
	}
	at := strings.TrimSuffix(d.Issuer, "/")
	return object{
		"type": "oauth2", "description": "Tokens of " + d.Issuer + ".",
		"flows": object{
			"authorizationCode": object{"authorizationUrl": at + "/authorize", "tokenUrl": at + "/token", "refreshUrl": at + "/token", "scopes": texts},
			"clientCredentials": object{"tokenUrl": at + "/token", "scopes": texts},
		},
	}
}

var (
	param = regexp.MustCompile(`\{([^{}]*)\}`)
	other = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

// add describes an operation, unless nobody may use it. expressions are what the values of
// the path's placeholders match, as far as they are known.
func (d *document) add(method, path, tag string, op object, expressions ...string) {
	op["security"] = []object{} // said, since a linter cannot know that it is meant
	if d.Needs != nil && d.Issuer != "" {
		needed, public, denied := d.Needs.Needs(method, d.sample(path))
		if denied {
			return
		}
		if !public {
			scopes := append([]string{}, needed...)
			for _, s := range scopes {
				d.scopes[s] = true
			}
			op["security"] = []object{{scheme: scopes}}
			refuse(op, 401, 403)
		}
	}
	refuse(op, 404, 429)
	if d.MediaType != "" {
		refuse(op, 406)
	}
	op["tags"] = []string{tag}
	if d.Deprecated {
		op["deprecated"] = true
	}
	at := d.place(path)
	item, ok := d.paths[at].(object)
	if !ok {
		item = object{}
		d.paths[at] = item
		if names := param.FindAllStringSubmatch(at, -1); names != nil {
			var params []object
			for i, n := range names {
				schema := object{"type": "string", "minLength": 1}
				if i < len(expressions) {
					expression(schema, expressions[i])
				}
				params = append(params, object{"name": n[1], "in": "path", "required": true, "description": "Part of the address.", "schema": schema})
			}
			item["parameters"] = params
		}
	}
	op["operationId"] = d.unique(strings.Trim(other.ReplaceAllString(strings.ToLower(method+" "+path), "_"), "_"))
	item[strings.ToLower(method)] = op
	if !d.tagged[tag] {
		d.tagged[tag] = true
		d.tags = append(d.tags, object{"name": tag, "description": "Operations on " + tag + "."})
	}
}

// described is an operation that was added before.
func (d *document) described(method, path string) object {
	item, _ := d.paths[d.place(path)].(object)
	op, _ := item[strings.ToLower(method)].(object)
	return op
}

// place is the path as it is described first: those that differ in the names of
// placeholders alone are one.
func (d *document) place(path string) string {
	shape := param.ReplaceAllString(path, "{}")
	if d.names[shape] == "" {
		d.names[shape] = path
	}
	return d.names[shape]
}

// sample is a path that the guard can judge.
func (d *document) sample(path string) string {
	return strings.TrimSuffix(d.Server, "/") + param.ReplaceAllString(path, "0")
}

func (d *document) unique(id string) string {
	name := id
	for n := 2; d.ids[name]; n++ {
		name = fmt.Sprintf("%s_%d", id, n)
	}
	d.ids[name] = true
	return name
}

func ref(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

var reference = regexp.MustCompile(`"\$ref":"#/components/([a-z]+)/([^"]+)"`)

// used are the components that paths refer to, and those that these refer to. The others
// are of operations that nobody may use, and of resources that are never sent.
func used(paths object, components object) (object, error) {
	kept := object{}
	for look := []any{paths}; len(look) > 0; look = look[1:] {
		text, err := json.Marshal(look[0])
		if err != nil {
			return nil, err
		}
		for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
			all, _ := components[m[1]].(object)
			of, _ := kept[m[1]].(object)
			if of == nil {
				of = object{}
				kept[m[1]] = of
			}
			if c, there := all[m[2]]; there && of[m[2]] == nil {
				of[m[2]] = c
				look = append(look, c)
			}
		}
	}
	return kept, nil
}
