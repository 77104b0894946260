package resource

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// Translates reports whether a successful answer's body is read.
func (m Match) Translates() bool {
	o := m.Operation
	switch o.Kind {
	case List:
		return true
	case Delete:
		status, _ := o.Deleted()
		return status == 0 && o.plain()
	case Create:
		return o.Resource.Created != nil || o.plain()
	}
	return o.plain()
}

// plain reports that the resource of an answer is unwrapped or changed, be it in its encoding.
func (o *Operation) plain() bool { return o.unwraps() || o.shape.charset != nil }

// unwraps is plain for more than the encoding.
func (o *Operation) unwraps() bool {
	return o.call != nil || o.Resource.FromXML != nil || len(o.shape.itemAt[o.Kind]) > 0 || o.shape.changes()
}

// Caller is who gets an answer, and where they found it.
type Caller struct {
	// Prefix is what stands before every path of ours, such as "/v1".
	Prefix string
	// Query is the client's.
	Query url.Values
	// Allowed says whether the caller may use a method on a path. Nil: everything.
	Allowed func(method, path string) bool
}

// Answer is what becomes of a success.
type Answer struct {
	Kind Kind
	// Plan edits the body; nil: the body passes as it is.
	Plan *splice.Plan
	// Status replaces the upstream's 2xx; 0: it stays. 204 has no body.
	Status int
	// Usual says that Status was not declared: it replaces only what means the same, of an
	// answer that is no page.
	Usual bool
	// List is the frame of a list; nil: the answer is no list.
	List *list.Query
	// TotalHeader has the total of a list.
	TotalHeader string
	// Path is the client's, for the links of a list.
	Path  string
	Query url.Values
	// Head: nothing but the header is sent.
	Head bool
	// ReadByPost: a 201 of the upstream's made nothing. Some frameworks answer every POST so.
	ReadByPost bool

	hasTotal  bool
	exceeded  bool
	createdAt int        // the slot of a new id, -1: none
	usual     *usualList // nil: the answer is no page unless a list is declared
	portion   *Portion   // nil: it is a whole answer
	cutAt     int64      // elements of a list that may have been cut; 0: none
	sealer    list.Sealer
	bound     []byte // what cursors belong to
	match     Match
	caller    Caller
}

// compile makes the plan for answers to the operation.
func (o *Operation) compile() (err error) {
	m, s := Match{Operation: o}, o.shape
	if s.listed && o.Kind == Read && o.Path == s.collection.Text {
		if o.usual, err = s.newUsual(); err != nil {
			return err
		}
	}
	capture, failures := o.captures()
	o.failures = failures
	if !m.Translates() {
		if capture != nil {
			o.look, err = splice.Compile(splice.Config{Capture: capture})
		}
		return err
	}
	plan := splice.Config{Root: s.itemAt[o.Kind], Capture: capture}
	if o.Kind == List {
		plan = splice.Config{Root: s.items, List: true}
		plan.Capture = s.listCaptures()
	}
	plan = s.edits(plan)
	if s.links != nil {
		plan.Append = func(dst []byte, _ splice.Scalar) []byte { return dst } // each answer has its own
	}
	o.plan, err = splice.Compile(plan)
	return err
}

// Answer says what becomes of a success. Reading and parsing it is another matter.
func (m Match) Answer(up Upstream, c Caller) *Answer {
	o := m.Operation
	a := &Answer{Kind: o.Kind, Head: m.Head, Path: c.Prefix + o.pattern.Fill(m.Values), Query: c.Query, Plan: o.plan, createdAt: -1, match: m, caller: c}
	switch {
	case o.Kind == Delete:
		status, declared := o.Deleted()
		a.Status, a.Usual = status, status != 0 && !declared
	case o.Kind == List:
		a.List, a.TotalHeader = up.List, o.Resource.List.TotalHeader
		a.sealer, a.bound = up.sealer, up.bound
		a.hasTotal = len(o.shape.total) > 0
	case o.Kind == Create:
		status, declared := o.Created()
		a.Status, a.Usual = status, status != 0 && !declared
		if o.shape.readable && (declared || a.Usual) {
			a.createdAt = 0
		}
	}
	a.usual = o.usual
	a.ReadByPost = o.ReadsByPost()
	return a
}

// Personal reports that the answer depends on what its caller may do, which caches must
// know even where the upstream permits them to keep it.
func (a *Answer) Personal() bool {
	return a.match.Operation != nil && a.match.Operation.shape.links != nil && a.caller.Allowed != nil
}

// Editor edits one answer.
func (a *Answer) Editor(dst io.Writer) *splice.Editor {
	e := a.Plan.New(dst)
	skip, take := 0, 0
	if a.List != nil {
		skip, take = a.List.Window()
	} else if a.portion != nil {
		skip, take = a.portion.skip, a.portion.take
	}
	var links func([]byte, splice.Scalar) []byte
	if o := a.match.Operation; o != nil && o.shape.links != nil {
		links = o.shape.append(a.match, a.caller)
	}
	e.Vary(skip, take, links)
	return e
}

func (s *shape) append(m Match, c Caller) func([]byte, splice.Scalar) []byte {
	values := m.Values[:len(s.collection.Names)]
	at := link.Place{Prefix: c.Prefix, Base: c.Prefix + s.collection.Fill(values), Values: values}
	if at.Document = m.Operation.Kind == Read && len(m.Operation.pattern.Segments) == len(s.collection.Segments); !at.Document {
		at.Base += "/"
	}
	return func(dst []byte, id splice.Scalar) []byte {
		text, _ := s.idText(id)
		return s.links.Append(dst, at, text, c.Allowed)
	}
}

// idText is the id as it stands in a path. What could not be asked for has no address.
func (s *shape) idText(id splice.Scalar) (string, bool) {
	if id.Kind != splice.String && id.Kind != splice.Number || !pathpattern.IsSafe(id.Text) || s.item != nil && !s.item.Accepts(id.Text) {
		return "", false
	}
	return id.Text, true
}

// Total is the number of all elements of a list, nil when it is not known. e is the
// editor of the body; whole says that it has seen all of it.
func (a *Answer) Total(e *splice.Editor, h http.Header, whole bool) *int64 {
	if a.usual != nil {
		return a.usualTotal(e, h)
	}
	if a.TotalHeader != "" {
		return a.match.Operation.Resource.List.HeaderTotal(h)
	}
	if a.hasTotal {
		if s := e.Captured(0); s.Kind == splice.Number || s.Kind == splice.String {
			return list.ReadTotal(s.Text)
		}
		return nil
	}
	if whole && a.match.Operation.Resource.List.Local() && a.complete(e) {
		n := e.Elements()
		return &n
	}
	return nil
}

// Seen is what is known of a list when its header goes out.
func (a *Answer) Seen(e *splice.Editor, h http.Header, whole bool) list.Seen {
	s := list.Seen{Total: a.Total(e, h, whole), Elements: -1}
	if whole {
		s.Elements = e.Elements()
	}
	return s
}

// Made reports whether an address of the client's is the one of what the request made.
func (a *Answer) Made(at string) bool {
	return a.Kind == Create && a.Status != 0 && a.below(at)
}

// below reports whether an address of the client's is that of one item.
func (a *Answer) below(at string) bool {
	id, below := strings.CutPrefix(at, a.Path+"/")
	return below && id != "" && !strings.ContainsAny(id, "/?")
}

// Location is the address of what was made; "" when the answer does not tell its id.
func (a *Answer) Location(e *splice.Editor) string {
	if a.createdAt < 0 {
		return ""
	}
	id, ok := a.match.Operation.shape.idText(e.Captured(a.createdAt))
	if !ok {
		return ""
	}
	return a.Path + "/" + url.PathEscape(id)
}
