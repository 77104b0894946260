package answer

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// Caller is the client that gets an answer.
type Caller struct {
	// Prefix precedes every path of the gateway, such as "/v1".
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
	// ReadByPost: the operation reads, but the upstream was asked with a POST. Its 201 created nothing: some
	// frameworks answer every POST so.
	ReadByPost bool
	// List is what the client asks of a list; nil: the answer is no list.
	List *list.Query
	// Sealer seals the cursors of the list in Bound. Nil: the list has no cursors.
	Sealer list.Sealer
	Bound  []byte
}

// Answer says how one successful answer is translated.
type Answer struct {
	*Spec
	Request
	Caller
	// Plan edits the body; nil: the body passes unchanged.
	Plan *splice.Plan
	// Status replaces the upstream's 2xx; 0: it stays. 204 has no body.
	Status int
	// Conventional says that Status was not declared: it replaces only statuses that mean the same, and not those
	// of HTML pages.
	Conventional bool
	// Path is the client's, for the links of a list.
	Path string

	around     bool     // the answer stays a document, but Plan edits the elements in it
	portion    *Portion // nil: it is a whole answer
	exceeded   bool
	unfollowed bool
	cutAt      int64 // elements of a list that may have been cut; 0: none
}

// New returns how the successful answer to a request is translated.
func (sp *Spec) New(r Request, c Caller) *Answer {
	a := &Answer{Spec: sp, Request: r, Caller: c, Path: c.Prefix + sp.Pattern.Fill(r.Values), Plan: sp.plan}
	declared := false
	switch sp.Kind {
	case resource.Delete:
		a.Status, declared = sp.resource().DeletedStatus()
	case resource.Create:
		a.Status, declared = sp.resource().CreatedStatus()
	}
	a.Conventional = a.Status != 0 && !declared
	return a
}

// NewDeferred returns how an answer is translated that no client waits for: the part at a pointer, or the resource
// for "", with the client's names and values. A value that is not an object stays unchanged. There are no links,
// because it is not known who will read it.
func (sp *Spec) NewDeferred(at string) (*Answer, error) {
	root, err := splice.ParsePointer(at)
	if err != nil {
		return nil, err
	}
	c := splice.Config{Root: root, Any: at != ""}
	if at == "" {
		c.Root, c.Seek = sp.Shape.itemAt[sp.Kind], sp.Shape.sought(sp.Kind)
	}
	plan, err := splice.Compile(sp.Shape.Names.EditAnswers(c))
	return NewPlain(plan), err
}

// undeclared is the Spec of answers to requests that belong to no operation.
var undeclared = &Spec{
	Config: Config{Method: http.MethodGet, Shape: &Shape{ShapeConfig: ShapeConfig{Resource: new(resource.Resource)}}}, failures: -1,
}

// NewPlain returns the answer to a request that belongs to no operation. A nil plan lets it pass unchanged.
func NewPlain(plan *splice.Plan) *Answer { return &Answer{Spec: undeclared, Plan: plan} }

// KeepBody has the body of the answer to a deletion edited, which is dropped by convention, and takes the convention's status
// back. It reports false if there is nothing to edit.
func (a *Answer) KeepBody() bool {
	if !a.Conventional || a.kept == nil {
		return false
	}
	a.Plan, a.Status = a.kept, 0
	return true
}

// Declares is [Spec.Declares] for this answer: a body that is kept after all must be JSON, too.
func (a *Answer) Declares() bool {
	return a.Spec.Declares() || a.kept != nil && a.Plan == a.kept
}

// Unchanged reports whether the answer belongs to no operation and its body passes as it is.
func (a *Answer) Unchanged() bool { return a.Spec == undeclared && a.Plan == nil }

// Personal reports whether the answer depends on its caller: links on what the caller may do, and cursors belong to it. Caches
// must know that even if the upstream permits them to store the answer.
func (a *Answer) Personal() bool { return a.Shape.links != nil && a.Allowed != nil || a.ByCursor() }

// Editor returns an editor for this answer. What may be a list must have been made a page before.
func (a *Answer) Editor(dst io.Writer) *splice.Editor {
	e := a.Plan.New(dst)
	skip, take := 0, 0
	if a.List != nil {
		skip, take = a.List.Window()
	} else if a.portion != nil {
		skip, take = a.portion.skip, a.portion.take
	}
	var links func([]byte, splice.Scalar) []byte
	if a.Shape.links != nil {
		links = a.Shape.appendLinks(a.isDocument(), a.Values, a.Caller)
	}
	e.Vary(skip, take, links)
	return e
}

// isDocument reports whether the answer is one document at the collection's address, and not a page of its items.
func (a *Answer) isDocument() bool {
	return a.Kind == resource.Read && a.List == nil && !a.around && len(a.Pattern.Segments) == len(a.Shape.Collection.Segments)
}

// IsNewItem reports whether a client's address is that of a new item, created with a declared or conventional status.
func (a *Answer) IsNewItem(at string) bool {
	return a.Kind == resource.Create && a.Status != 0 && a.isItem(at)
}

// IsUnreadableNewItem reports whether a client's address is that of a new item that no operation reads.
func (a *Answer) IsUnreadableNewItem(at string) bool {
	if a.Kind != resource.Create || a.Shape.Readable {
		return false
	}
	status, _ := a.resource().CreatedStatus()
	return status != 0 && a.isItem(at)
}

// isItem reports whether a client's address is that of an item of the answer's collection.
func (a *Answer) isItem(at string) bool {
	id, below := strings.CutPrefix(at, a.Path+"/")
	return below && id != "" && !strings.ContainsAny(id, "/?")
}

// Location returns the address of a new item, or "" if the answer does not contain its ID. e is the editor of the
// body.
func (a *Answer) Location(e *splice.Editor) string {
	if a.Kind != resource.Create || !a.Shape.Readable {
		return ""
	}
	if status, _ := a.resource().CreatedStatus(); status == 0 {
		return ""
	}
	id, ok := a.Shape.idText(e.Captured(0))
	if !ok {
		return ""
	}
	return a.Path + "/" + url.PathEscape(id)
}

// IsPage reports whether a success of this media type is not a result of the API, but an HTML page or a download
// that passes unchanged.
func (a *Answer) IsPage(media string, json, attachment bool) bool {
	if a.Declares() {
		return a.resource().Passes(media)
	}
	return !json || attachment
}
