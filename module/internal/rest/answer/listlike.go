package answer

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// Where upstreams usually have the elements of a list, besides a member with the collection's name, the number of all
// elements, and the page size.
var (
	itemNames  = []string{"data", "items", "results", "list", "content"}
	totalNames = []string{"total", "total_count", "totalCount", "total_items", "totalItems", "totalElements"}
	limitNames = []string{"limit", "per_page", "perPage", "page_size", "pageSize"}
)

// listLikePlans are the plans for answers to GET of a collection without a declared list.
type listLikePlans struct {
	look   *splice.Plan   // finds out what an object is
	array  *splice.Plan   // edits an array
	object []*splice.Plan // edits an object, for each of items
	items  []string       // members that may contain the elements
}

// listLikePlaces are the captured places of such an answer.
var listLikePlaces = func() (all []splice.Pointer) {
	for _, name := range slices.Concat(totalNames, limitNames) {
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
		return s.compilePlan(splice.Config{Root: root, List: true, Capture: listLikePlaces})
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

// MayBeList reports whether MakeArrayPage or MakeObjectPage makes a page of the answer if it looks like a list.
func (a *Answer) MayBeList() bool { return a.listLike != nil }

// MakeArrayPage makes a page of an array.
func (a *Answer) MakeArrayPage() { a.setPage(a.listLike.array) }

// MakeObjectPage makes a page of an object if look, an editor of LookPlan, has found an array and a total in it. Before
// the end of the document (whole is false) the total may still come. It reports false if the answer is no page, or has
// the form of one already.
func (a *Answer) MakeObjectPage(look *splice.Editor, whole bool) bool {
	if look.Captured(len(listLikePlaces)-2).Kind != splice.Absent || whole && firstNumber(look, 0, len(totalNames)) == nil {
		return false
	}
	if saysFailed(look, len(listLikePlaces)+len(a.listLike.items)) {
		return false
	}
	for i := range a.listLike.items {
		if look.Captured(len(listLikePlaces)+i).Kind == splice.Array {
			a.setPage(a.listLike.object[i])
			return true
		}
	}
	return false
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
