package resource

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// Conventions that a resource follows unless it turns them off.
const (
	offList    = "list"
	offCreated = "created"
	offDeleted = "deleted"
	offBatch   = "batch"
)

// follows reports whether a convention is not turned off.
func (r *Resource) follows(convention string) bool { return !slices.Contains(r.Off, convention) }

// checkOff finds conventions that are not known, and those that are declared and turned off.
func (r *Resource) checkOff() error {
	declared := map[string]bool{
		offList: r.List != nil, offCreated: r.Created != nil, offDeleted: r.Deleted != 0, offBatch: len(r.Batch) > 0 || r.BatchMax != 0,
	}
	for i, word := range r.Off {
		switch is, known := declared[word]; {
		case !known:
			return fmt.Errorf("off %s: expected list, created, deleted or batch", word)
		case slices.Contains(r.Off[:i], word):
			return fmt.Errorf("%s off is given twice", word)
		case is:
			return fmt.Errorf("%s off: it is also declared, expected one of both", word)
		}
	}
	return nil
}

// silent reports that nothing is said of what the upstream's requests and answers look
// like: its paths are the usual ones, and it is taken to know the conventions.
func (r *Resource) silent() bool {
	return len(r.Routes) == 0 && r.List == nil && r.Item == "" && len(r.ItemOf) == 0 && r.ID == "" && len(r.Rename) == 0 && len(r.Lift) == 0 && len(r.Drop) == 0 && r.Wrap == "" && len(r.Values) == 0 &&
		len(r.Replace) == 0 && len(r.Links) == 0 && len(r.Validate) == 0 && r.Schema == nil && len(r.Query) == 0
}

// hasItems reports whether any of the routes is of one item of the collection.
func hasItems(collection pathpattern.Pattern, routes []Route) bool {
	return slices.ContainsFunc(routes, func(r Route) bool {
		p, err := pathpattern.Parse(r.Path)
		at := len(collection.Segments)
		return err == nil && len(p.Segments) == at+1 && p.Extends(collection) && p.Segments[at].Param
	})
}

// readsItems reports whether one item of the collection can be read at its address.
func readsItems(collection pathpattern.Pattern, routes []Route) bool {
	return hasItems(collection, slices.DeleteFunc(slices.Clone(routes), func(r Route) bool { return r.Method != http.MethodGet }))
}

// Usual reports whether the answer becomes a page of a list when it looks like one, though
// no list is declared: GET of a collection that has items.
func (o *Operation) Usual() bool { return o.usual != nil }

// Where an upstream that nothing is declared of has the elements of a list, besides a
// member with the collection's own name, and the number of all elements.
var (
	usualItems  = []string{"data", "items", "results", "list", "content"}
	usualTotals = []string{"total", "total_count", "totalCount", "total_items", "totalItems", "totalElements"}
	usualLimits = []string{"limit", "per_page", "perPage", "page_size", "pageSize"}
)

// usualList has the plans for the answer to a GET of a collection of which no list is declared.
type usualList struct {
	look   *splice.Plan // finds out what an object is
	array  *splice.Plan // for an array
	object []*splice.Plan
	items  []string // the member that each plan of object is for
}

// The places of the captured values of a usual list.
var usualPlaces = func() (all []splice.Pointer) {
	for _, name := range slices.Concat(usualTotals, usualLimits) {
		all = append(all, splice.Pointer{name})
	}
	return append(all, splice.Pointer{"pagination"}, splice.Pointer{"pagination", "total"})
}()

func (s *shape) newUsual() (u *usualList, err error) {
	u = &usualList{items: slices.Clone(usualItems)}
	for _, segment := range slices.Backward(s.collection.Segments) {
		if !segment.Param {
			if !slices.Contains(u.items, segment.Text) {
				u.items = append(u.items, segment.Text)
			}
			break
		}
	}
	places := slices.Clone(usualPlaces)
	for _, name := range u.items {
		places = append(places, splice.Pointer{name})
	}
	places = append(places, failurePlaces...)
	if u.look, err = splice.Compile(splice.Config{Capture: places}); err != nil {
		return nil, err
	}
	compile := func(root splice.Pointer) (*splice.Plan, error) {
		plan := s.edits(splice.Config{Root: root, List: true, Capture: usualPlaces})
		if s.links != nil {
			plan.Append = func(dst []byte, _ splice.Scalar) []byte { return dst } // each answer has its own
		}
		return splice.Compile(plan)
	}
	if u.array, err = compile(nil); err != nil {
		return nil, err
	}
	for _, name := range u.items {
		plan, err := compile(splice.Pointer{name})
		if err != nil {
			return nil, err
		}
		u.object = append(u.object, plan)
	}
	return u, nil
}

// Look is a plan that captures, and edits nothing: what the answer tells without being
// translated. Nil: nothing is looked for.
func (a *Answer) Look() *splice.Plan {
	switch {
	case a.usual != nil:
		return a.usual.look
	case a.match.Operation != nil:
		return a.match.Operation.look
	}
	return nil
}

// MayBeList reports whether the answer is a page if it looks like one: AsArray or AsObject
// make it one.
func (a *Answer) MayBeList() bool { return a.usual != nil }

// AsArray makes a page of an answer that is an array.
func (a *Answer) AsArray() { a.asPage(a.usual.array) }

// AsObject makes a page of an answer that is an object, where look, an editor of Look, has
// found an array and a total in it. Of a document that goes on (whole is false) the total
// may come later. It reports false where the answer is no page, or one already.
func (a *Answer) AsObject(look *splice.Editor, whole bool) bool {
	if look.Captured(len(usualPlaces)-2).Kind != splice.Absent || whole && usualNumber(look, 0, len(usualTotals)) == nil {
		return false
	}
	if saysFailed(look, len(usualPlaces)+len(a.usual.items)) {
		return false
	}
	for i := range a.usual.items {
		if look.Captured(len(usualPlaces)+i).Kind == splice.Array {
			a.asPage(a.usual.object[i])
			return true
		}
	}
	return false
}

// Known reports whether what look has found is enough to tell what an object is.
func (a *Answer) Known(look *splice.Editor) bool {
	return look.Captured(len(usualPlaces)-2).Kind != splice.Absent || usualNumber(look, 0, len(usualTotals)) != nil
}

func (a *Answer) asPage(plan *splice.Plan) {
	page := list.Usual(a.Query)
	a.Plan, a.List = plan, &page
}

// Fit completes the page of a list when all of its elements were seen.
func (a *Answer) Fit(e *splice.Editor, h http.Header) {
	a.exceeded = a.List.Exceeded(e.Elements())
	if a.usual == nil {
		if l := a.match.Operation.Resource.List; l.Local() && l.Complete == nil && l.Total+l.TotalHeader == "" && list.IsRound(e.Elements()) {
			a.cutAt = e.Elements()
		}
	}
	if a.usual != nil {
		a.List.Fit(usualNumber(e, len(usualTotals), len(usualLimits)), a.usualTotal(e, h), e.Elements())
	}
}

// Exceeded reports whether the upstream gave more elements of a list than it was asked for,
// and of which resource. It is known when the answer was translated.
func (a *Answer) Exceeded() (path string, ok bool) {
	if !a.exceeded {
		return "", false
	}
	return a.match.Operation.Resource.Path, true
}

// Linked reports whether links to other pages can be given: e is the editor of the body.
func (a *Answer) Linked(e *splice.Editor, h http.Header) bool {
	return a.usual == nil || a.List.Linked(a.usualTotal(e, h), e.Elements()) && !(a.ownPages() && relatesPages(h))
}

// ownPages reports whether the client asked in parameters that are not the conventions', which
// may be the upstream's own for pages.
func (a *Answer) ownPages() bool {
	own := false
	for name := range a.Query {
		if name == "page" || name == "limit" {
			return false
		}
		own = own || !slices.Contains(usualQuery, name)
	}
	return own
}

// relatesPages reports whether the upstream's own Link header leads to other pages.
func relatesPages(h http.Header) bool {
	for _, link := range h.Values("Link") {
		link = strings.NewReplacer(`"`, "", " ", "").Replace(strings.ToLower(link))
		for _, rel := range []string{"rel=first", "rel=prev", "rel=next", "rel=last"} {
			if strings.Contains(link, rel) {
				return true
			}
		}
	}
	return false
}

// usualNumber is the first of the captured values from slot first on that is a number of
// things.
func usualNumber(e *splice.Editor, first, count int) *int64 {
	for slot := first; slot < first+count; slot++ {
		if s := e.Captured(slot); s.Kind == splice.Number || s.Kind == splice.String {
			if n := list.ReadTotal(s.Text); n != nil {
				return n
			}
		}
	}
	return nil
}

// usualTotal is the number of all elements of a page of which no list is declared.
func (a *Answer) usualTotal(e *splice.Editor, h http.Header) *int64 {
	if n := usualNumber(e, 0, len(usualTotals)); n != nil {
		return n
	}
	if n := usualNumber(e, len(usualPlaces)-1, 1); n != nil {
		return n
	}
	return usualHeader.HeaderTotal(h)
}

var usualHeader = list.Config{TotalHeader: "X-Total-Count"}

// usualQuery are the parameters of a list that an upstream with the usual paths knows.
var usualQuery = []string{"page", "limit", "sort", "state"}

// parameters are those that an operation which is no declared list passes on, and whether
// it passes on all of them.
func (o *Operation) parameters() (names []list.Name, all bool) {
	r := o.Resource
	names = r.Query
	if o.usual != nil && len(r.Routes) == 0 {
		names = slices.Clone(names)
		for _, name := range usualQuery {
			names = append(names, list.Name{Name: name})
		}
	}
	return names, r.silent()
}

// PassedOn are the names of the parameters that an operation which is no declared list is
// known to pass on. It may pass on others too, where nothing is said of the resource.
func (o *Operation) PassedOn() (names []string) {
	if o.Kind == List || o.Kind == Batch {
		return nil
	}
	known, _ := o.parameters()
	for _, n := range known {
		names = append(names, n.Name)
	}
	return names
}

// Created is the status of a successful creation, 0 for the upstream's, and whether it is
// declared to be that of every one.
func (o *Operation) Created() (status int, declared bool) {
	switch {
	case o.Resource.Created != nil:
		return o.Resource.Created.Status, true
	case o.Resource.follows(offCreated):
		return http.StatusCreated, false
	}
	return 0, false
}

// Deleted is the same for a deletion.
func (o *Operation) Deleted() (status int, declared bool) {
	switch {
	case o.Resource.Deleted != 0:
		return o.Resource.Deleted, true
	case o.Resource.follows(offDeleted):
		return http.StatusNoContent, false
	}
	return 0, false
}

// overridesByQuery reports a parameter by which frameworks let a request stand for one of
// another method, in any spelling that they read as its name. PHP ends a name at a NUL.
func overridesByQuery(name string) bool {
	name, _, _ = strings.Cut(strings.TrimLeft(name, " "), "[")
	name, _, _ = strings.Cut(name, "\x00")
	return plainly(name) == "-method" || Overrides(name)
}

// passOn gives the parameters of the query that are passed on, in the upstream's words.
func (o *Operation) passOn(asked url.Values) (url.Values, *envelope.Refusal) {
	names, all := o.parameters()
	theirs := make(url.Values, len(asked))
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		i := slices.IndexFunc(names, func(n list.Name) bool { return n.Name == name })
		if refused := o.setHere(name); refused != nil {
			return nil, refused
		}
		switch {
		case overridesByQuery(name):
			return nil, envelope.Invalid(name, "must not be there: the method of a request cannot be overridden")
		case i < 0 && !all:
			return nil, envelope.Invalid(name, "is not a parameter of this address")
		case i < 0:
			theirs[name] = asked[name]
		case len(asked[name]) > 1:
			return nil, envelope.Invalid(name, "must not be given more than once")
		case !list.IsText(asked.Get(name)):
			return nil, envelope.Invalid(name, fmt.Sprintf("must be a text of 1 to %d bytes without control characters", list.MaxText))
		default:
			theirs.Set(names[i].Their(), asked.Get(name))
		}
	}
	return theirs, nil
}

// checkQuery finds parameters that could not be told from others.
func (r *Resource) checkQuery() error {
	var theirs []string
	for i, n := range r.Query {
		switch {
		case n.Name == "" || overridesByQuery(n.Name) || overridesByQuery(n.Their()):
			return fmt.Errorf("query %s: expected the name of a parameter that is no method", n.Name)
		case slices.ContainsFunc(r.Query[:i], func(other list.Name) bool { return other.Name == n.Name }) || slices.Contains(theirs, n.Their()):
			return fmt.Errorf("query %s is given twice", n.Name)
		}
		theirs = append(theirs, n.Their())
	}
	return nil
}

// leavesQuery checks that the address has none of the parameters that are passed on.
func (o *Operation) leavesQuery() error {
	var names []string
	for _, n := range o.Resource.Query {
		names = append(names, n.Their())
	}
	return o.template.CheckParametersFree("query", names)
}
