package resource

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/headers"
	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// shape is what the resource looks like, on both sides.
type shape struct {
	config     *Resource
	collection pathpattern.Pattern
	itemAt     map[Kind]splice.Pointer // of the resource in an answer
	id         splice.Pointer
	created    splice.Pointer // of a new id
	items      splice.Pointer
	total      splice.Pointer
	names      map[string]string            // the upstream's -> ours
	words      map[string]map[string]string // the upstream's member -> its value -> our word
	known      map[string][]string          // names that something is said of, by what they may be taken for
	places     places                       // what is done to answers
	rules      *validate.Set
	links      *link.Set // nil: none
	charset    *charset.Charset
	listed     bool                 // GET of the collection is a list if its answer looks like one
	item       *pathpattern.Segment // the placeholder of an item's id; nil: no path has one
	readable   bool                 // an item can be read at its address
	down       *headers.Set         // header fields of answers that reach the client
	cookies    bool                 // the client's cookies reach the upstream
}

func newShape(r *Resource, collection pathpattern.Pattern) (s *shape, err error) {
	s = &shape{config: r, collection: collection, names: make(map[string]string), words: make(map[string]map[string]string)}
	if s.itemAt, err = r.itemPointers(); err != nil {
		return nil, err
	}
	for _, p := range []struct {
		word, text string
		to         *splice.Pointer
	}{{"id", r.idPointer(), &s.id}, {"created", r.createdPointer(), &s.created}} {
		if *p.to, err = splice.ParsePointer(p.text); err != nil {
			return nil, fmt.Errorf("%s: %w", p.word, err)
		}
	}
	if err := s.compileNames(r); err != nil {
		return nil, err
	}
	if err := s.compilePlaces(r); err != nil {
		return nil, err
	}
	s.know()
	for _, check := range []func() error{r.checkOff, r.checkQuery, r.checkPass, r.checkWrap, r.checkFailWhen, s.compileFields, s.findCharset, s.checkXML} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	if r.Created != nil && r.Created.Status != http.StatusCreated {
		return nil, fmt.Errorf("created %d: expected 201", r.Created.Status)
	}
	if r.Deleted != 0 && r.Deleted != http.StatusNoContent {
		return nil, fmt.Errorf("deleted %d: expected 204", r.Deleted)
	}
	if r.List != nil {
		if err := r.List.Check(); err != nil {
			return nil, err
		}
		s.items, _ = splice.ParsePointer(r.List.Items) // checked
		s.total, _ = splice.ParsePointer(r.List.Total)
	}
	if s.rules, err = validate.Compile(r.Validate, r.Schema); err != nil {
		return nil, err
	}
	if len(r.Links) > 0 {
		if s.links, err = link.Compile(r.Links, link.Names{Collection: collection.Names, Own: r.own(collection)}); err != nil {
			return nil, err
		}
	}
	// What splice would refuse, it refuses now.
	_, err = splice.Compile(s.edits(splice.Config{}))
	return s, err
}

// own is the placeholder of an item's id: the one of its first route, or the usual one.
func (r *Resource) own(collection pathpattern.Pattern) string {
	for _, route := range r.Routes {
		p, err := pathpattern.Parse(route.Path)
		if at := len(collection.Segments); err == nil && len(p.Segments) > at && p.Extends(collection) && p.Segments[at].Param {
			return p.Segments[at].Text
		}
	}
	return usualName(collection)
}

func (r *Resource) idPointer() string {
	if r.ID == "" {
		return "/id"
	}
	return r.ID
}

func (r *Resource) createdPointer() string {
	if r.Created != nil && r.Created.ID != "" {
		return r.Created.ID
	}
	return r.itemOf(Create) + r.idPointer()
}

// itemPointers are where the resource is in the answers to each kind of operation.
func (r *Resource) itemPointers() (map[Kind]splice.Pointer, error) {
	at := make(map[Kind]splice.Pointer)
	for _, k := range Kinds {
		p, err := splice.ParsePointer(r.itemOf(k))
		if err != nil && r.ItemOf[k] != "" {
			return nil, fmt.Errorf("item %s: %w", k, err)
		}
		if err != nil {
			return nil, fmt.Errorf("item: %w", err)
		}
		at[k] = p
	}
	for _, k := range slices.Sorted(maps.Keys(r.ItemOf)) {
		if !slices.Contains(itemKinds, k) {
			return nil, fmt.Errorf("item %s: expected read, create, replace, update or action", k)
		}
	}
	return at, nil
}

func (s *shape) compileNames(r *Resource) error {
	for _, ours := range slices.Sorted(maps.Keys(r.Rename)) {
		theirs := r.Rename[ours]
		switch {
		case ours == "" || theirs == "":
			return fmt.Errorf("rename %s=%s: expected a name on both sides", ours, theirs)
		case s.names[theirs] != "":
			return fmt.Errorf("rename %s=%s: %s has the name %s already, expected one name for each", ours, theirs, theirs, s.names[theirs])
		}
		s.names[theirs] = ours
	}
	for _, field := range slices.Sorted(maps.Keys(r.Values)) {
		theirs := r.their(field)
		s.words[theirs] = make(map[string]string)
		for _, word := range slices.Sorted(maps.Keys(r.Values[field])) {
			value := r.Values[field][word]
			if other, ok := s.words[theirs][value]; ok {
				return fmt.Errorf("values %s: %s and %s both stand for %s, expected one word for each value", field, other, word, value)
			}
			s.words[theirs][value] = word
		}
	}
	return nil
}

// their is the upstream's name of a member.
func (r *Resource) their(ours string) string {
	if theirs, ok := r.Rename[ours]; ok {
		return theirs
	}
	return ours
}

// edits completes a plan with what is done to each resource.
func (s *shape) edits(c splice.Config) splice.Config {
	c = s.places.edit(c)
	if s.links != nil {
		c.ID, c.Drop = s.id, append(slices.Clone(c.Drop), "links")
	}
	return c
}

// changes reports whether resources look different on both sides.
func (s *shape) changes() bool {
	return s.places.changes() || s.links != nil
}
