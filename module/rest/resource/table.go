package resource

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/compose"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// Kind is what a request does: a closed set, fit for a metric's label.
type Kind string

const (
	List    Kind = "list"
	Read    Kind = "read"
	Create  Kind = "create"
	Replace Kind = "replace"
	Update  Kind = "update"
	Delete  Kind = "delete"
	Batch   Kind = "batch"
	Action  Kind = "action" // any other
)

// Kinds are all of them.
var Kinds = []Kind{List, Read, Create, Replace, Update, Delete, Batch, Action}

// Operation is a method on a declared path.
type Operation struct {
	Kind   Kind
	Method string // the client's
	Path   string // the client's, with placeholders, without their expressions
	// Resource is what the operation belongs to.
	Resource *Resource
	// Item is, for Batch, the operation on one item.
	Item *Operation

	pattern  pathpattern.Pattern
	route    string // the client's method and path as they are declared
	template *pathpattern.Template
	method   string // the upstream's
	as       string
	xmlRoot  string
	override bool
	call     *call             // by RPC; nil: none
	placed   *compose.Template // what the gateway places in the body; nil: nothing
	shape    *shape
	plan     *splice.Plan   // for answers; nil: they pass
	look     *splice.Plan   // of a creation whose answer passes: finds the new id; may be nil
	fixed    []supply.Param // what the gateway sends with it, with placeholders in the values
	reserved supply.Names   // of the query and the body: not the client's
	usual    *usualList     // of a GET of a collection without a declared list; may be nil
	failures int            // the slot of the first of failurePlaces in plan or look, -1: none
}

// Field is the client's name of a member that the upstream speaks of.
func (o *Operation) Field(theirs string) string {
	if ours, ok := o.shape.names[theirs]; ok {
		return ours
	}
	if ours, ok := o.shape.places.names[theirs]; ok {
		return ours
	}
	return theirs
}

// Expressions returns what the values of the path's placeholders match.
func (o *Operation) Expressions() []string { return o.pattern.Expressions() }

// Rules are the constraints on bodies.
func (o *Operation) Rules() *validate.Set { return o.shape.rules }

// Table are the declared resources, compiled.
type Table struct {
	root       *node
	operations []*Operation
}

// NewTable checks and compiles resources.
func NewTable(resources []Resource) (*Table, error) {
	t := &Table{root: &node{words: make(map[string]*node)}}
	for i := range resources {
		if err := t.add(pathpattern.Pattern{}, nil, &resources[i]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Operations are all that is declared, in the order of the configuration.
func (t *Table) Operations() []*Operation { return t.operations }

// Empty reports that nothing is declared.
func (t *Table) Empty() bool { return len(t.operations) == 0 }

// add declares a resource, of each item of a parent's if that is one.
func (t *Table) add(parent pathpattern.Pattern, above pathpattern.Expressions, r *Resource) error {
	named, err := r.withNames()
	if err != nil {
		return fmt.Errorf("resource %s: %w", r.Path, err)
	}
	r = named
	path := strings.Trim(r.Path, "/")
	switch {
	case parent.Text != "" && !strings.HasPrefix(path, "{") && !strings.HasPrefix("/"+path+"/", parent.Text+"/"):
		path = parent.Text + "/{" + usualName(parent) + "}/" + path
	case parent.Text != "" && strings.HasPrefix(path, "{"):
		path = parent.Text + "/" + path
	default:
		path = "/" + path
	}
	collection, err := pathpattern.Parse(path)
	if err != nil {
		return fmt.Errorf("resource %s: %w", r.Path, err)
	}
	routes := r.Routes
	if len(routes) == 0 {
		routes = usual(collection)
	}
	expressions, err := placeholderExpressions(above, collection, routes)
	if err != nil {
		return fmt.Errorf("resource %s: %w", r.Path, err)
	}
	expressions.Apply(collection)
	s, err := newShape(r, collection)
	if err != nil {
		return fmt.Errorf("resource %s: %w", r.Path, err)
	}
	if hasItems(collection, routes) {
		s.item = &pathpattern.Segment{Text: r.own(collection), Param: true, Value: expressions[r.own(collection)]}
	}
	s.listed = r.List == nil && r.follows(offList) && hasItems(collection, routes)
	for _, route := range routes {
		if err := t.route(s, expressions, route); err != nil {
			return fmt.Errorf("resource %s: upstream %s %s: %w", r.Path, route.Method, route.Path, err)
		}
	}
	s.readable = readsItems(collection, routes)
	if err := t.linked(s); err != nil {
		return fmt.Errorf("resource %s: %w", r.Path, err)
	}
	if err := t.batch(s); err != nil {
		return fmt.Errorf("resource %s: batch: %w", r.Path, err)
	}
	for i := range r.Nested {
		nested := r.Nested[i]
		nested.Charset = cmp.Or(nested.Charset, r.Charset)
		if err := t.add(collection, expressions, &nested); err != nil {
			return err
		}
	}
	return nil
}

// placeholderExpressions returns the expressions of an outer resource together with those that the
// paths of a resource give.
func placeholderExpressions(outer pathpattern.Expressions, collection pathpattern.Pattern, routes []Route) (pathpattern.Expressions, error) {
	all := outer.Clone()
	if err := all.Add(collection); err != nil {
		return nil, err
	}
	for _, r := range routes {
		p, err := pathpattern.Parse(r.Path)
		if err == nil {
			err = all.Add(p)
		}
		if err != nil {
			return nil, fmt.Errorf("upstream %s %s: %w", r.Method, r.Path, err)
		}
	}
	return all, nil
}

// usual are the routes of a resource that declares none.
func usual(collection pathpattern.Pattern) []Route {
	item := collection.Text + "/{" + usualName(collection) + "}"
	var routes []Route
	for _, m := range []string{"GET", "POST"} {
		routes = append(routes, Route{Method: m, Path: collection.Text, Upstream: collection.Text})
	}
	for _, m := range []string{"GET", "PUT", "PATCH", "DELETE"} {
		routes = append(routes, Route{Method: m, Path: item, Upstream: item})
	}
	return routes
}

// usualName is the placeholder of an item's id: `id`, and `sub_id` and `sub_sub_id` where
// those before are taken.
func usualName(collection pathpattern.Pattern) string {
	name := "id"
	for slices.Contains(collection.Names, name) {
		name = "sub_" + name
	}
	return name
}

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

func (t *Table) route(s *shape, all pathpattern.Expressions, r Route) error {
	if !slices.Contains(methods, r.Method) {
		return fmt.Errorf("method %q: expected %s; HEAD and OPTIONS are answered by themselves", r.Method, strings.Join(methods, ", "))
	}
	p, err := pathpattern.Parse(r.Path)
	if err != nil {
		return err
	}
	if !p.Extends(s.collection) {
		return fmt.Errorf("expected a path of the resource, %s", s.collection.Text)
	}
	all.Apply(p)
	below := len(p.Segments) - len(s.collection.Segments)
	if r.Method == http.MethodPatch && below > 1 {
		return fmt.Errorf("the path is further down than an item: expected PATCH in a resource of its own, such as `resource %s`", path.Dir(strings.TrimPrefix(p.Text, "/")))
	}
	o := &Operation{
		Kind:   kindOf(r.Method, below, s.config.List != nil),
		Method: r.Method, Path: p.Text, route: r.Method + " " + r.Path, Resource: s.config, pattern: p, shape: s,
		method: cmp.Or(r.UpstreamMethod, r.Method), as: r.As, xmlRoot: r.XMLRoot, override: r.Override,
	}
	if !slices.Contains(methods, o.method) {
		return fmt.Errorf("the upstream's method %q: expected %s", o.method, strings.Join(methods, ", "))
	}
	switch r.As {
	case "", "form", "json", "multipart", "xml":
	default:
		return fmt.Errorf("as %s: expected form, json, multipart or xml", r.As)
	}
	if err := r.checkXML(); err != nil {
		return err
	}
	if err := o.compileCall(r); err != nil {
		return err
	}
	if err := checkAs(o); err != nil {
		return err
	}
	if r.As != "" && r.As != "json" && s.charset.Wide() {
		return fmt.Errorf("as %s: it is not sent in %s, expected json or another charset", r.As, s.charset.Name())
	}
	if err := compilePlaced(o, r); err != nil {
		return err
	}
	if o.template, err = pathpattern.ParseTemplate(r.Upstream, p.Names); err != nil {
		return err
	}
	if o.Kind == List {
		if err := o.template.CheckParametersFree("list", s.config.List.Parameters()); err != nil {
			return err
		}
	}
	if o.Kind != List {
		if err := o.leavesQuery(); err != nil {
			return err
		}
	}
	if err := o.compile(); err != nil {
		return err
	}
	if err := o.supply(); err != nil {
		return err
	}
	if err := checkPlaced(o); err != nil {
		return err
	}
	return t.declare(o)
}

func (t *Table) declare(o *Operation) error {
	at := t.root.place(o.pattern)
	if at.operations[o.Method] != nil {
		return fmt.Errorf("%s %s is declared twice", o.Method, o.Path)
	}
	at.operations[o.Method] = o
	t.operations = append(t.operations, o)
	return nil
}

func kindOf(method string, below int, listed bool) Kind {
	switch {
	case method == "GET" && below == 0 && listed:
		return List
	case method == "GET":
		return Read
	case method == "POST" && below == 0:
		return Create
	case below > 1 || method == "POST":
		return Action
	case method == "PUT":
		return Replace
	case method == "PATCH":
		return Update
	}
	return Delete
}

// maxBatch is the most items of a batch that can be declared: all of them wait in memory
// for the last one.
const maxBatch = 1000

// batch declares PATCH of a collection, by way of PATCH of its items, where that is asked
// for or nothing else is declared.
func (t *Table) batch(s *shape) error {
	if n := s.config.BatchMax; n < 0 || n > maxBatch {
		return fmt.Errorf("max %d: expected 1 to %d items", n, maxBatch)
	}
	if slices.Contains(s.config.Batch, "") {
		return fmt.Errorf("expected names of fields")
	}
	asked := len(s.config.Batch) > 0 || s.config.BatchMax != 0
	if at := t.root.place(s.collection); !asked && (!s.config.follows(offBatch) || at.operations[http.MethodPatch] != nil) {
		return nil
	}
	for _, o := range t.operations {
		if o.shape == s && o.Kind == Update && len(o.pattern.Segments) == len(s.collection.Segments)+1 {
			return t.declare(&Operation{Kind: Batch, Method: "PATCH", Path: s.collection.Text, Resource: s.config, Item: o, pattern: s.collection, shape: s, failures: -1})
		}
	}
	if !asked {
		return nil
	}
	return fmt.Errorf("expected an upstream for PATCH %s/{id}", s.collection.Text)
}

// Match is the operation that a request is.
type Match struct {
	// Operation is nil for an OPTIONS request, which Allow answers.
	Operation *Operation
	Allow     string
	// Values are the decoded values of the path's placeholders.
	Values []string
	// Head: the answer's body is not sent.
	Head bool
}

// Match finds the operation of a request; path is escaped and without a version.
// A refusal is 404 or 405. declared says whether the path belongs to a resource; it is
// also said of one that no upstream should see, so that it does not pass as anything else.
func (t *Table) Match(method, path string) (m Match, declared bool, refused *envelope.Refusal) {
	segments, safe := pathpattern.Split(path)
	if segments == nil {
		return m, !safe, envelope.Refuse(http.StatusNotFound, "")
	}
	at := t.root.find(segments)
	if at == nil {
		return m, false, envelope.Refuse(http.StatusNotFound, "")
	}
	m.Allow = at.allow()
	if method == http.MethodOptions {
		return m, true, nil
	}
	if method == http.MethodHead {
		m.Head, method = true, http.MethodGet
	}
	m.Operation = at.operations[method]
	if m.Operation == nil {
		return m, true, &envelope.Refusal{Status: http.StatusMethodNotAllowed, Header: http.Header{"Allow": {m.Allow}}}
	}
	for i, s := range m.Operation.pattern.Segments {
		if s.Param {
			m.Values = append(m.Values, segments[i])
		}
	}
	if !m.Operation.pattern.Accepts(m.Values) {
		return Match{}, true, envelope.Refuse(http.StatusNotFound, "")
	}
	return m, true, nil
}
