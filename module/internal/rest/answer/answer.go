package answer

import (
	"io"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// Caller is who gets an answer, and at which address.
type Caller struct {
	// Prefix precedes every path of ours, such as "/v1".
	Prefix string
	// Query is the client's.
	Query url.Values
	// Allowed reports whether the caller may use a method on a path. Nil: everything.
	Allowed func(method, path string) bool
}

// Request is the request that is answered.
type Request struct {
	// Values are the decoded values of the path's placeholders.
	Values []string
	// Head: the answer's body is not sent.
	Head bool
	// ReadByPost: the operation reads, and the upstream was asked with a POST.
	ReadByPost bool
	// List is what the client asks of a list.
	List *list.Query
	// Sealer seals the list's cursors, for the list in Bound alone. Nil: it has no cursors.
	Sealer list.Sealer
	Bound  []byte
}

// Answer is what becomes of one successful answer.
type Answer struct {
	Kind resource.Kind
	// Plan edits the body; nil: the body passes unchanged.
	Plan *splice.Plan
	// Status replaces the upstream's 2xx; 0: it stays. 204 has no body.
	Status int
	// Conventional says that Status was not declared: it replaces only statuses that mean the same, of
	// answers that are no HTML pages.
	Conventional bool
	// List is the frame of a list; nil: the answer is no list.
	List *list.Query
	// TotalHeader is the header field with the total of a list.
	TotalHeader string
	// Path is the client's, for the links of a list.
	Path  string
	Query url.Values
	// Head: only the header is sent.
	Head bool
	// ReadByPost: a 201 of the upstream created nothing. Some frameworks answer every POST so.
	ReadByPost bool

	spec      *Spec // nil: the request belongs to no operation
	values    []string
	caller    Caller
	createdAt int            // the slot of a new id, -1: none
	listLike  *listLikePlans // nil: the answer is no page unless a list is declared
	portion   *Portion       // nil: it is a whole answer
	hasTotal  bool
	exceeded  bool
	cutAt     int64 // elements of a list that may have been cut; 0: none
	sealer    list.Sealer
	bound     []byte // what cursors belong to
}

// New returns what becomes of the successful answer to a request.
func (sp *Spec) New(r Request, c Caller) *Answer {
	a := &Answer{
		Kind: sp.Kind, Head: r.Head, ReadByPost: r.ReadByPost, Path: c.Prefix + sp.Pattern.Fill(r.Values), Query: c.Query, Plan: sp.plan,
		spec: sp, values: r.Values, caller: c, createdAt: -1, listLike: sp.listLike,
	}
	switch sp.Kind {
	case resource.Delete:
		status, declared := sp.resource().DeletedStatus()
		a.Status, a.Conventional = status, status != 0 && !declared
	case resource.List:
		a.List, a.TotalHeader = r.List, sp.resource().List.TotalHeader
		a.sealer, a.bound = r.Sealer, r.Bound
		a.hasTotal = len(sp.Shape.total) > 0
	case resource.Create:
		status, declared := sp.resource().CreatedStatus()
		a.Status, a.Conventional = status, status != 0 && !declared
		if sp.Shape.Readable && (declared || a.Conventional) {
			a.createdAt = 0
		}
	}
	return a
}

// NewDeferred returns what becomes of an answer that no client waits for: the part of it at a pointer, or
// the resource for "", with our names and values. A value that is no object stays as it is. It has no
// links: who will read it, and what they may do then, is not known.
func (sp *Spec) NewDeferred(at string) (*Answer, error) {
	root, err := splice.ParsePointer(at)
	if err != nil {
		return nil, err
	}
	if at == "" {
		root = sp.Shape.itemAt[sp.Kind]
	}
	plan, err := splice.Compile(sp.Shape.Names.EditAnswers(splice.Config{Root: root, Any: at != ""}))
	return NewPlain(plan), err
}

// NewPlain returns what a plan makes of an answer to a request that belongs to no operation.
func NewPlain(plan *splice.Plan) *Answer { return &Answer{Plan: plan, createdAt: -1} }

// Personal reports whether the answer depends on what its caller may do. Caches must know that even
// where the upstream permits them to store the answer.
func (a *Answer) Personal() bool {
	return a.spec != nil && a.spec.Shape.links != nil && a.caller.Allowed != nil
}

// Editor returns an editor for this answer.
func (a *Answer) Editor(dst io.Writer) *splice.Editor {
	e := a.Plan.New(dst)
	skip, take := 0, 0
	if a.List != nil {
		skip, take = a.List.Window()
	} else if a.portion != nil {
		skip, take = a.portion.skip, a.portion.take
	}
	var links func([]byte, splice.Scalar) []byte
	if sp := a.spec; sp != nil && sp.Shape.links != nil {
		links = sp.Shape.appendLinks(sp.isDocument(), a.values, a.caller)
	}
	e.Vary(skip, take, links)
	return e
}

// IsNewItem reports whether a client's address is the one of what a creation with a declared or
// conventional status has created.
func (a *Answer) IsNewItem(at string) bool {
	return a.Kind == resource.Create && a.Status != 0 && a.isItem(at)
}

// IsUnreadableNewItem reports whether a client's address is the one of what a creation has created, and
// no operation reads it there.
func (a *Answer) IsUnreadableNewItem(at string) bool {
	if a.Kind != resource.Create || a.spec == nil || a.Readable() {
		return false
	}
	status, _ := a.spec.resource().CreatedStatus()
	return status != 0 && a.isItem(at)
}

// isItem reports whether a client's address is the one of an item of the answer's collection.
func (a *Answer) isItem(at string) bool {
	id, below := strings.CutPrefix(at, a.Path+"/")
	return below && id != "" && !strings.ContainsAny(id, "/?")
}

// Readable reports whether what the request creates can be read at its address.
func (a *Answer) Readable() bool { return a.spec != nil && a.spec.Shape.Readable }

// Location returns the address of what was created, "" if the answer does not tell its id.
func (a *Answer) Location(e *splice.Editor) string {
	if a.createdAt < 0 {
		return ""
	}
	id, ok := a.spec.Shape.idText(e.Captured(a.createdAt))
	if !ok {
		return ""
	}
	return a.Path + "/" + url.PathEscape(id)
}
