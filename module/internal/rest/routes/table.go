package routes

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// Table has the operations of the declared resources.
type Table struct {
	root       *node
	operations []*Operation
	resources  []*compiled

	indexed   sync.Once
	upstreams map[string]map[int]*Operation // see indexUpstreams
}

// New checks and compiles resources.
func New(resources []resource.Resource) (*Table, error) {
	t := &Table{root: &node{words: make(map[string]*node)}}
	for i := range resources {
		if err := t.addResource(pathpattern.Pattern{}, nil, &resources[i]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Operations returns all operations, in the order of the configuration.
func (t *Table) Operations() []*Operation { return t.operations }

// Empty reports whether nothing is declared.
func (t *Table) Empty() bool { return len(t.operations) == 0 }

// compiled is a compiled resource.
type compiled struct {
	config     *resource.Resource
	collection pathpattern.Pattern
	names      *fieldnames.Names
	rules      *validate.Set
	shape      *answer.Shape
	operations []*Operation
}

// addResource declares a resource, and those nested in it. parent is the collection that it is nested
// in, if any.
func (t *Table) addResource(parent pathpattern.Pattern, outer pathpattern.Expressions, r *resource.Resource) error {
	fail := func(err error) error { return fmt.Errorf("resource %s: %w", r.Path, err) }
	named, err := fieldnames.Resolve(r)
	if err != nil {
		return fail(err)
	}
	r = named
	collection, err := pathpattern.Parse(collectionPath(parent, strings.Trim(r.Path, "/")))
	if err != nil {
		return fail(err)
	}
	routes := r.Routes
	if len(routes) == 0 {
		routes = conventionalRoutes(collection)
	}
	expressions, err := placeholderExpressions(outer, collection, routes)
	if err != nil {
		return fail(err)
	}
	expressions.Apply(collection)
	c, err := compileResource(r, collection, routes, expressions)
	if err != nil {
		return fail(err)
	}
	t.resources = append(t.resources, c)
	for _, route := range routes {
		if err := t.addRoute(c, expressions, route); err != nil {
			return fmt.Errorf("resource %s: upstream %s %s: %w", r.Path, route.Method, route.Path, err)
		}
	}
	if err := c.checkLinks(); err != nil {
		return fail(err)
	}
	if err := t.addBatch(c); err != nil {
		return fmt.Errorf("resource %s: batch: %w", r.Path, err)
	}
	for i := range r.Nested {
		nested := r.Nested[i]
		nested.Charset = cmp.Or(nested.Charset, r.Charset)
		if err := t.addResource(collection, expressions, &nested); err != nil {
			return err
		}
	}
	return nil
}

// compileResource compiles what all operations of a resource share.
func compileResource(r *resource.Resource, collection pathpattern.Pattern, routes []resource.Route, expressions pathpattern.Expressions) (c *compiled, err error) {
	c = &compiled{config: r, collection: collection}
	if c.names, err = fieldnames.New(r); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	if c.rules, err = validate.Compile(r.Validate, r.Schema); err != nil {
		return nil, err
	}
	own := itemPlaceholder(r, collection)
	shape := answer.ShapeConfig{Resource: r, Names: c.names, Collection: collection, Own: own, Readable: readsItems(collection, routes)}
	if hasItems(collection, routes) {
		shape.Item = &pathpattern.Segment{Text: own, Param: true, Value: expressions[own]}
	}
	c.shape, err = answer.NewShape(shape)
	return c, err
}

// addRoute declares one operation of a resource.
func (t *Table) addRoute(c *compiled, expressions pathpattern.Expressions, r resource.Route) error {
	if !slices.Contains(mapping.Methods, r.Method) {
		return fmt.Errorf("method %q: expected %s; HEAD and OPTIONS are answered by themselves", r.Method, strings.Join(mapping.Methods, ", "))
	}
	p, err := pathpattern.Parse(r.Path)
	if err != nil {
		return err
	}
	if !p.Extends(c.collection) {
		return fmt.Errorf("expected a path of the resource, %s", c.collection.Text)
	}
	expressions.Apply(p)
	below := len(p.Segments) - len(c.collection.Segments)
	if r.Method == http.MethodPatch && below > 1 {
		return fmt.Errorf("the path is further down than an item: expected PATCH in a resource of its own, such as `resource %s`", path.Dir(strings.TrimPrefix(p.Text, "/")))
	}
	o, err := c.newOperation(kindOf(r.Method, below, c.config.List != nil), r, p)
	if err != nil {
		return err
	}
	return t.addOperation(c, o)
}

// newOperation compiles one operation.
func (c *compiled) newOperation(kind resource.Kind, r resource.Route, p pathpattern.Pattern) (o *Operation, err error) {
	o = &Operation{Kind: kind, Method: r.Method, Path: p.Text, Resource: c.config, Rules: c.rules, names: c.names, pattern: p}
	if o.Answers, err = answer.NewSpec(answer.Config{Kind: kind, Method: r.Method, Pattern: p, Shape: c.shape, ByRPC: r.RPC != nil}); err != nil {
		return nil, err
	}
	o.Requests, err = mapping.New(mapping.Config{
		Kind: kind, Route: r, Pattern: p, Resource: c.config, Names: c.names, Rules: c.rules, Charset: c.shape.Charset,
		AnswersTranslated: o.Answers.Translates(), AnswersExamined: o.Answers.Examines(), ListLike: o.Answers.ListLike(),
	})
	return o, err
}

// addOperation adds an operation of a resource.
func (t *Table) addOperation(c *compiled, o *Operation) error {
	c.operations = append(c.operations, o)
	return t.placeOperation(o)
}

// placeOperation gives an operation its place in the tree of paths.
func (t *Table) placeOperation(o *Operation) error {
	at := t.root.place(o.pattern)
	if at.operations[o.Method] != nil {
		return fmt.Errorf("%s %s is declared twice", o.Method, o.Path)
	}
	at.put(o)
	t.operations = append(t.operations, o)
	return nil
}

// Merge adds the resources of another table behind those of this one, without compiling them again. It
// returns an error where New does for all of them.
func (t *Table) Merge(other *Table) error {
	for _, c := range other.resources {
		for _, o := range c.operations {
			if o.Kind == resource.Batch && !declaresBatch(c.config) && t.root.place(c.collection).operations[o.Method] != nil {
				continue
			}
			if err := t.placeOperation(o); err != nil {
				return fmt.Errorf("resource %s: %w", c.config.Path, err)
			}
		}
	}
	t.resources = append(t.resources, other.resources...)
	return nil
}

func declaresBatch(r *resource.Resource) bool { return len(r.Batch) > 0 || r.BatchMax != 0 }

// kindOf returns the kind of an operation on a path with so many segments below its collection's.
func kindOf(method string, below int, listed bool) resource.Kind {
	switch {
	case method == "GET" && below == 0 && listed:
		return resource.List
	case method == "GET":
		return resource.Read
	case method == "POST" && below == 0:
		return resource.Create
	case below > 1 || method == "POST":
		return resource.Action
	case method == "PUT":
		return resource.Replace
	case method == "PATCH":
		return resource.Update
	}
	return resource.Delete
}

// maxBatch is the most items of a batch that can be declared: all of them are kept in memory until the
// last one is done.
const maxBatch = 1000

// addBatch declares PATCH of a collection, by way of PATCH of its items, if it is declared, or if the
// resource follows the convention and nothing else is declared for PATCH of the collection.
func (t *Table) addBatch(c *compiled) error {
	r := c.config
	if n := r.BatchMax; n < 0 || n > maxBatch {
		return fmt.Errorf("max %d: expected 1 to %d items", n, maxBatch)
	}
	if slices.Contains(r.Batch, "") {
		return fmt.Errorf("expected names of fields")
	}
	declared := declaresBatch(r)
	if at := t.root.place(c.collection); !declared && (!r.Follows(resource.ConventionBatch) || at.operations[http.MethodPatch] != nil) {
		return nil
	}
	for _, item := range c.operations {
		if item.Kind == resource.Update && len(item.pattern.Segments) == len(c.collection.Segments)+1 {
			o, err := c.newOperation(resource.Batch, resource.Route{Method: http.MethodPatch}, c.collection)
			if err != nil {
				return err
			}
			o.Item = item
			return t.addOperation(c, o)
		}
	}
	if !declared {
		return nil
	}
	return fmt.Errorf("expected an upstream for PATCH %s/{id}", c.collection.Text)
}
