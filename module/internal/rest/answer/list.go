package answer

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// listCaptures returns the captured places in the answer to a list: the total, the cursors, the conditions of a
// complete and of an empty list, and failurePlaces. failures is the slot of the first of these.
func (s *Shape) listCaptures() (places []splice.Pointer, failures int) {
	if len(s.total) > 0 {
		places = append(places, s.total)
	}
	for _, c := range s.Resource.List.Cursors {
		at, _ := splice.ParsePointer(c.Pointer) // checked
		places = append(places, at)
	}
	if complete := s.Resource.List.Complete; complete != nil {
		at, _ := splice.ParsePointer(complete.Pointer) // checked
		places = append(places, at)
	}
	for _, empty := range s.Resource.List.EmptyWhen {
		at, _ := splice.ParsePointer(empty.Pointer) // checked
		places = append(places, at)
	}
	return append(places, failurePlaces...), len(places)
}

// cursorSlot returns the slot of the first cursor.
func (s *Shape) cursorSlot() int {
	if len(s.total) > 0 {
		return 1
	}
	return 0
}

// Total returns the number of all elements of a list, nil if it is not known. e is the editor of the body; whole says
// that it has read all of it.
func (a *Answer) Total(e *splice.Editor, h http.Header, whole bool) *int64 {
	switch l := a.resource().List; {
	case a.listLike != nil:
		return listLikeTotal(e, h)
	case l.TotalHeader != "":
		return l.HeaderTotal(h)
	case len(a.Shape.total) > 0:
		return firstNumber(e, 0, 1)
	case whole && l.Local() && a.complete(e):
		n := e.Elements()
		return &n
	}
	return nil
}

// complete reports whether no declared condition says that the list has more elements than were sent, apart
// from cursors.
func (a *Answer) complete(e *splice.Editor) bool {
	l := a.resource().List
	return l.Complete == nil || l.Complete.Holds(e.Captured(a.Shape.cursorSlot()+len(l.Cursors)))
}

// IsList reports whether the answer is a list, or may be one.
func (a *Answer) IsList() bool { return a.Kind == resource.List || a.MayBeList() }

// IsEmptyPage reports whether a list that is missing in an answer is an empty one: as declared, or because the number
// of all elements says so. Some APIs leave an empty list out. e is the editor of the body, which has read all of it.
func (a *Answer) IsEmptyPage(e *splice.Editor, h http.Header) bool {
	if a.Kind != resource.List {
		return false
	}
	conditions := a.resource().List.EmptyWhen
	for i, c := range conditions {
		if c.Holds(e.Captured(a.failures - len(conditions) + i)) {
			return true
		}
	}
	total := a.Total(e, h, false)
	return e.RootMissing() && !a.Failed(e) && total != nil && (*total == 0 || a.List != nil && !a.ByCursor() && !a.resource().List.Local() && int64(a.List.Page-1)*int64(a.List.Limit) >= *total)
}

// Seen returns what is known of a list when its header is sent.
func (a *Answer) Seen(e *splice.Editor, h http.Header, whole bool) list.Seen {
	s := list.Seen{Total: a.Total(e, h, whole), Elements: -1}
	if whole {
		s.Elements = e.Elements()
	}
	return s
}

// CompletePage completes the page of a list after its last element.
func (a *Answer) CompletePage(e *splice.Editor, h http.Header) {
	a.exceeded = a.List.Exceeded(e.Elements())
	if a.listLike != nil {
		at := listLikePosition(e)
		a.unfollowed = !a.List.Follows(at)
		a.List.Fit(at, listLikeTotal(e, h), e.Elements())
	} else if l := a.resource().List; l.Local() && l.Complete == nil && l.Total+l.TotalHeader == "" && list.IsRound(e.Elements()) {
		a.cutAt = e.Elements()
	}
}

// Exceeded reports whether the upstream sent more elements of a list than requested, and for which resource. It is
// known after the answer was translated.
func (a *Answer) Exceeded() (path string, ok bool) { return a.resource().Path, a.exceeded }

// Unfollowed reports whether the upstream's own words show that it does not know `page` and `limit`, and for which
// resource. It is known after the answer was translated.
func (a *Answer) Unfollowed() (path string, ok bool) { return a.resource().Path, a.unfollowed }

// MayBeCut reports whether a list that is assumed to be complete has a length at which APIs cut lists, and nothing
// declared tells whether it was cut. It is known after the answer was translated.
func (a *Answer) MayBeCut() (path string, elements int64, ok bool) {
	return a.resource().Path, a.cutAt, a.cutAt != 0
}

// HasPageLinks reports whether links to other pages can be given. e is the editor of the body.
func (a *Answer) HasPageLinks(e *splice.Editor, h http.Header) bool {
	return a.listLike == nil || a.List.Linked(listLikePosition(e), listLikeTotal(e, h), e.Elements()) && !(a.ownPages() && relatesPages(h))
}

// ByCursor reports whether the answer is a page of a list that clients page through with cursors.
func (a *Answer) ByCursor() bool { return a.List != nil && a.Sealer != nil }

// SetNextCursor seals the cursor of the next page, when the header or the end of a list is written. e is the editor
// of the body; whole says that it has read all of it.
func (a *Answer) SetNextCursor(e *splice.Editor, whole bool) error {
	if !a.ByCursor() {
		return nil
	}
	values := a.cursors(e)
	for _, s := range values {
		if s.Kind == splice.Absent && !s.Long && !whole {
			return nil // it may still follow
		}
	}
	return a.List.Continue(values, a.Sealer, a.Bound)
}

// cursors returns the values of the declared cursors.
func (a *Answer) cursors(e *splice.Editor) (values []splice.Scalar) {
	for i := range a.resource().List.Cursors {
		values = append(values, e.Captured(a.Shape.cursorSlot()+i))
	}
	return values
}

// EmptyList returns an upstream's answer that contains a list without elements.
func (s *Shape) EmptyList() []byte {
	var v any = []any{}
	for i := len(s.items) - 1; i >= 0; i-- {
		v = map[string]any{s.items[i]: v}
	}
	body, _ := json.Marshal(v) // strings always encode
	return body
}

// Portion is what one answer contributes to a list that the upstream sends in several answers.
type Portion struct {
	// Elements counts the elements of the answer, Bytes the bytes that were read for them.
	Elements, Bytes int64
	// Next has the upstream's parameters for the next portion; nil after the last.
	Next map[string]string
	// Complete says that the list ends here.
	Complete bool
	// Err says what is wrong with the upstream's cursor.
	Err error

	skip, take int
}

// NewPortion returns an answer that becomes an array of its elements from skip on, at most take of them (none for 0),
// and the portion, which is set after the answer was read.
func (sp *Spec) NewPortion(values []string, c Caller, skip, take int) (*Answer, *Portion) {
	p := &Portion{skip: skip, take: take}
	if take == 0 {
		p.skip, p.take = list.Reach, 1 // no answer has so many elements
	}
	return &Answer{Spec: sp, Request: Request{Values: values}, Caller: c, Plan: sp.plan, portion: p}, p
}

// CompletePortion sets the portion, if the answer is one, after its last byte.
func (a *Answer) CompletePortion(e *splice.Editor) {
	p := a.portion
	if p == nil {
		return
	}
	l := a.resource().List
	p.Elements, p.Bytes = e.Elements(), e.Read()
	if p.Complete = a.complete(e); !p.Complete || l.Complete == nil {
		p.Next, p.Err = l.Next(a.cursors(e))
	}
}

// Where upstreams usually have the elements of a list, besides a member with the collection's name, the number of all
// elements, the page size, the page's number, and the number of elements in front of it.
var (
	itemNames   = []string{"data", "items", "results", "list", "content"}
	totalNames  = []string{"total", "total_count", "totalCount", "total_items", "totalItems", "totalElements"}
	limitNames  = []string{"limit", "per_page", "perPage", "page_size", "pageSize"}
	pageNames   = []string{"page", "current_page", "currentPage", "page_number", "pageNumber"}
	offsetNames = []string{"offset", "skip", "start", "startAt"}
)

// listLikePlans are the plans for answers to GET of a collection without a declared list.
type listLikePlans struct {
	look   *splice.Plan   // finds out whether an object is a page
	array  *splice.Plan   // edits an array
	object []*splice.Plan // edits an object, for each of items
	around []*splice.Plan // edits the elements in an object that is no page, for each of items; nil: nothing is edited
	items  []string       // members that may contain the elements
}

// listLikePlaces are the captured places of such an answer.
var listLikePlaces = func() (all []splice.Pointer) {
	for _, name := range slices.Concat(totalNames, limitNames, pageNames, offsetNames) {
		all = append(all, splice.Pointer{name})
	}
	return append(all, splice.Pointer{"pagination"}, splice.Pointer{"pagination", "total"})
}()

func (s *Shape) newListLikePlans() (p *listLikePlans, err error) {
	p = &listLikePlans{items: slices.Clone(itemNames)}
	for _, segment := range slices.Backward(s.Collection.Segments) {
		if !segment.Param {
			if !slices.Contains(p.items, segment.Text) {
				p.items = append(p.items, segment.Text)
			}
			break
		}
	}
	places := slices.Clone(listLikePlaces)
	for _, name := range p.items {
		places = append(places, splice.Pointer{name})
	}
	places = append(places, failurePlaces...)
	if p.look, err = splice.Compile(splice.Config{Capture: places}); err != nil {
		return nil, err
	}
	compile := func(root splice.Pointer) (*splice.Plan, error) {
		return s.compilePlan(splice.Config{Root: root, List: true, Guard: s.Names.Edited(), Seek: s.sought(resource.Read), Capture: listLikePlaces})
	}
	if p.array, err = compile(nil); err != nil {
		return nil, err
	}
	for _, name := range p.items {
		plan, err := compile(splice.Pointer{name})
		if err != nil {
			return nil, err
		}
		p.object = append(p.object, plan)
		if !s.changes() || len(s.itemAt[resource.Read]) > 0 {
			continue
		}
		if plan, err = s.compilePlan(splice.Config{Root: splice.Pointer{name}, List: true, Around: true, Guard: s.Names.Dropped(), Seek: s.sought(resource.Read)}); err != nil {
			return nil, err
		}
		p.around = append(p.around, plan)
	}
	return p, nil
}

// LookPlan returns a plan that captures and edits nothing, for an answer that is not translated. Nil: nothing is
// captured.
func (a *Answer) LookPlan() *splice.Plan {
	if a.listLike != nil {
		return a.listLike.look
	}
	return a.look
}

// MayBeList reports whether MakeArrayPage or MakeObjectPage turns the answer into a page if it looks like a
// list.
func (a *Answer) MayBeList() bool { return a.listLike != nil }

// MakeArrayPage turns an array into a page.
func (a *Answer) MakeArrayPage() { a.setPage(a.listLike.array) }

// MakeObjectPage turns an object into a page if look, an editor of LookPlan, has found an array and a total in it.
// Before the end of the document (whole is false) the total may still follow. It reports false if the answer is not a
// page, or already has the form of one: then the elements of the array are edited where they are.
func (a *Answer) MakeObjectPage(look *splice.Editor, whole bool) bool {
	l := a.listLike
	for i := range l.items {
		if look.Captured(len(listLikePlaces)+i).Kind != splice.Array {
			continue
		}
		if a.isPage(look, whole) {
			a.setPage(l.object[i])
			return true
		}
		if l.around != nil {
			a.Plan, a.around = l.around[i], true
		}
		return false
	}
	return false
}

// isPage reports whether an object with an array is a page that does not have the form of one yet.
func (a *Answer) isPage(look *splice.Editor, whole bool) bool {
	if look.Captured(len(listLikePlaces)-2).Kind != splice.Absent || whole && firstNumber(look, 0, len(totalNames)) == nil {
		return false
	}
	return !saysFailed(look, len(listLikePlaces)+len(a.listLike.items))
}

// KnowsIfPage reports whether look has found enough to tell whether the object is a page.
func (a *Answer) KnowsIfPage(look *splice.Editor) bool {
	return look.Captured(len(listLikePlaces)-2).Kind != splice.Absent || firstNumber(look, 0, len(totalNames)) != nil
}

func (a *Answer) setPage(plan *splice.Plan) {
	page := list.Usual(a.Query)
	a.Plan, a.List = plan, &page
}

// firstNumber returns the first count among the captured values from slot first on, nil if there is none.
func firstNumber(e *splice.Editor, first, count int) *int64 {
	for slot := first; slot < first+count; slot++ {
		if s := e.Captured(slot); s.Kind == splice.Number || s.Kind == splice.String {
			if n := list.ReadTotal(s.Text); n != nil {
				return n
			}
		}
	}
	return nil
}

// listLikeTotal returns the number of all elements of a page without a declared list, nil if it is not known.
func listLikeTotal(e *splice.Editor, h http.Header) *int64 {
	if n := firstNumber(e, 0, len(totalNames)); n != nil {
		return n
	}
	if n := firstNumber(e, len(listLikePlaces)-1, 1); n != nil {
		return n
	}
	return totalHeader.HeaderTotal(h)
}

// listLikePosition returns what a page without a declared list says about its position.
func listLikePosition(e *splice.Editor) (at list.Position) {
	slot := len(totalNames)
	at.Limit = firstNumber(e, slot, len(limitNames))
	slot += len(limitNames)
	at.Page = firstNumber(e, slot, len(pageNames))
	slot += len(pageNames)
	at.Offset = firstNumber(e, slot, len(offsetNames))
	return at
}

var totalHeader = list.Config{TotalHeader: "X-Total-Count"}

// ownPages reports whether the client used parameters other than the conventional ones, which may be the upstream's
// own for pages.
func (a *Answer) ownPages() bool {
	own := false
	for name := range a.Query {
		if name == "page" || name == "limit" {
			return false
		}
		own = own || !slices.Contains(resource.ConventionalParameters, name)
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
