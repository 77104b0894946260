package answer

import (
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/internal/rest/headers"
	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// ShapeConfig declares a resource.
type ShapeConfig struct {
	Resource   *resource.Resource // checked
	Names      *fieldnames.Names
	Collection pathpattern.Pattern
	// Own is the placeholder of an item's id, Item its segment in paths; nil: no path has one.
	Own  string
	Item *pathpattern.Segment
	// Readable says that an item can be read at its address.
	Readable bool
}

// Shape describes the answers of a resource, whatever the operation.
type Shape struct {
	ShapeConfig
	Charset  *charset.Charset                 // of the upstream; nil is UTF-8
	Fields   *headers.Set                     // header fields of answers that reach clients
	itemAt   map[resource.Kind]splice.Pointer // of the resource in an answer
	id       splice.Pointer
	created  splice.Pointer // where the id of a new item is
	items    splice.Pointer
	total    splice.Pointer
	links    *link.Set // nil: none
	listLike bool      // GET of the collection is a list if the answer looks like one
}

// NewShape compiles the shape of a resource.
func NewShape(c ShapeConfig) (s *Shape, err error) {
	r := c.Resource
	s = &Shape{ShapeConfig: c}
	if s.Fields, err = headers.New(r.HeaderDown); err != nil {
		return nil, err
	}
	if r.Charset != "" {
		if s.Charset, err = charset.Find(r.Charset); err != nil {
			return nil, fmt.Errorf("charset: %w", err)
		}
	}
	if s.itemAt, err = r.ItemPointers(); err != nil {
		return nil, err
	}
	for _, p := range []struct {
		word, text string
		to         *splice.Pointer
	}{{"id", r.IDPointer(), &s.id}, {"created", r.CreatedPointer(), &s.created}} {
		if *p.to, err = splice.ParsePointer(p.text); err != nil {
			return nil, fmt.Errorf("%s: %w", p.word, err)
		}
	}
	if r.List != nil {
		s.items, _ = splice.ParsePointer(r.List.Items) // checked
		s.total, _ = splice.ParsePointer(r.List.Total)
	}
	if len(r.Links) > 0 {
		if s.links, err = link.Compile(r.Links, link.Names{Collection: c.Collection.Names, Own: c.Own}); err != nil {
			return nil, err
		}
	}
	s.listLike = r.List == nil && r.Follows(resource.ConventionList) && c.Item != nil
	// What splice refuses is refused now, before any operation is compiled.
	return s, splice.Check(s.edits(splice.Config{}))
}

// edits adds the edits of each resource to a plan.
func (s *Shape) edits(c splice.Config) splice.Config {
	c = s.Names.EditAnswers(c)
	if s.links != nil {
		c.ID, c.Drop = s.id, append(slices.Clone(c.Drop), "links")
	}
	return c
}

// sought returns the places that the words name, where it is not declared where the resource is in the answers to a
// kind of operation: an answer may have it further inside.
func (s *Shape) sought(k resource.Kind) []splice.Sought {
	if s.Resource.DeclaresItem(k) {
		return nil
	}
	return s.Names.Sought()
}

// changes reports whether clients see resources in another form.
func (s *Shape) changes() bool { return s.Names.ChangeAnswers() || s.links != nil }

// altersReads reports whether clients that read a resource see it in another form or encoding.
func (s *Shape) altersReads() bool {
	return s.changes() || s.Charset != nil || s.Resource.FromXML != nil || len(s.itemAt[resource.Read]) > 0
}

// idText returns the ID as it appears in a path. It reports false for an ID that no path
// accepts.
func (s *Shape) idText(id splice.Scalar) (string, bool) {
	if id.Kind != splice.String && id.Kind != splice.Number || !pathpattern.IsSafe(id.Text) || s.Item != nil && !s.Item.Accepts(id.Text) {
		return "", false
	}
	return id.Text, true
}

// appendLinks returns a function that appends the links of a resource in an answer to this caller.
func (s *Shape) appendLinks(isDocument bool, values []string, c Caller) func([]byte, splice.Scalar) []byte {
	values = values[:len(s.Collection.Names)]
	at := link.Place{Prefix: c.Prefix, Base: c.Prefix + s.Collection.Fill(values), Values: values, Document: isDocument}
	if !isDocument {
		at.Base += "/"
	}
	return func(dst []byte, id splice.Scalar) []byte {
		text, _ := s.idText(id)
		return s.links.Append(dst, at, text, c.Allowed)
	}
}
