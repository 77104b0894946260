package answer

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// Config declares one operation.
type Config struct {
	Kind    resource.Kind
	Method  string              // the client's
	Pattern pathpattern.Pattern // the client's path
	Shape   *Shape
	ByRPC   bool // the upstream is called by RPC
}

// Spec is what is declared about the answers to one operation.
type Spec struct {
	Config
	plan     *splice.Plan   // nil: answers pass unchanged
	look     *splice.Plan   // of a write whose answer passes: finds the new id and failures; may be nil
	kept     *splice.Plan   // of a deletion whose body is dropped by convention: edits one that is not; may be nil
	listLike *listLikePlans // of a GET of a collection without a declared list; may be nil
	failures int            // slot of the first of failurePlaces in plan or look, -1: none
	alters   bool
}

// NewSpec compiles what is declared about the answers to an operation.
func NewSpec(c Config) (sp *Spec, err error) {
	sp, s := &Spec{Config: c, failures: -1}, c.Shape
	if c.Kind == resource.Batch {
		return sp, nil // the gateway answers it itself
	}
	sp.alters = sp.Translates() || s.altersReads()
	if s.listLike && c.Kind == resource.Read && c.Pattern.Text == s.Collection.Text {
		if sp.listLike, err = s.newListLikePlans(); err != nil {
			return nil, err
		}
		sp.alters = true
	}
	var capture []splice.Pointer
	capture, sp.failures = sp.captures()
	if !sp.Translates() {
		if capture != nil {
			sp.look, err = splice.Compile(splice.Config{Capture: capture})
		}
		if err == nil && c.Kind == resource.Delete && sp.changes() {
			sp.kept, err = s.compilePlan(splice.Config{Root: s.itemAt[c.Kind], Capture: capture, Seek: s.sought(c.Kind)})
		}
		return sp, err
	}
	plan := splice.Config{Root: s.itemAt[c.Kind], Capture: capture, Seek: s.sought(c.Kind)}
	if sp.listLike != nil {
		plan.Guard, plan.Seek = s.Names.Edited(), nil
	}
	if c.Kind == resource.List {
		plan = splice.Config{Root: s.items, List: true, Guard: s.Names.Edited()}
		plan.Capture, sp.failures = s.listCaptures()
	}
	sp.plan, err = s.compilePlan(plan)
	return sp, err
}

// compilePlan compiles a plan with the edits of each resource.
func (s *Shape) compilePlan(c splice.Config) (*splice.Plan, error) {
	c = s.edits(c)
	if s.links != nil {
		c.Append = func(dst []byte, _ splice.Scalar) []byte { return dst } // Answer.Editor replaces it
	}
	return splice.Compile(c)
}

func (sp *Spec) resource() *resource.Resource { return sp.Shape.Resource }

// Translates reports whether the body of a successful answer is translated.
func (sp *Spec) Translates() bool {
	switch sp.Kind {
	case resource.List:
		return true
	case resource.Delete:
		status, _ := sp.resource().DeletedStatus()
		return status == 0 && sp.changes()
	case resource.Create:
		return sp.resource().Created != nil || sp.changes()
	}
	return sp.changes()
}

// Examines reports whether the body of an answer is read although it may pass unchanged.
func (sp *Spec) Examines() bool { return sp.listLike != nil || sp.look != nil }

// changes reports whether the resource in an answer is unwrapped or changed, if only in its encoding.
func (sp *Spec) changes() bool { return sp.unwraps() || sp.Shape.Charset != nil }

// unwraps reports whether the resource in an answer is unwrapped or changed in more than its encoding.
func (sp *Spec) unwraps() bool {
	return sp.ByRPC || sp.resource().FromXML != nil || len(sp.Shape.itemAt[sp.Kind]) > 0 || sp.Shape.changes()
}

// Alters reports whether clients may see the resource in another form than the API has it. What the API says of its own
// bytes, such as their digest or its tag, must not reach them: it may be made of what they do not see, and few guesses
// may suffice to find that.
func (sp *Spec) Alters() bool { return sp.alters }

// Declares reports whether answers must be JSON, because something is declared about the resource or the list in
// them.
func (sp *Spec) Declares() bool {
	return sp.plan != nil && (sp.Kind == resource.List || sp.unwraps())
}

// Passes reports whether an answer of this media type passes unchanged where JSON is declared.
func (sp *Spec) Passes(media string) bool { return sp.resource().Passes(media) }

// ListLike reports whether no list is declared, and answers that look like one become pages: GET of a collection that
// has items.
func (sp *Spec) ListLike() bool { return sp.listLike != nil }

// ItemPointer returns where the resource is expected in an answer.
func (sp *Spec) ItemPointer() string { return sp.resource().ItemPointer(sp.Kind) }

// Writes reports whether a success means that the upstream has changed something. An answer that is not as declared
// does not undo the change.
func (sp *Spec) Writes() bool { return sp.Method != http.MethodGet }

// XML returns how answers in XML are converted; ok is false if none are expected.
func (sp *Spec) XML() (shape xmljson.Shape, ok bool) {
	if sp.resource().FromXML == nil {
		return shape, false
	}
	return sp.resource().FromXML.Shape(), true
}

// Permits reports whether an answer of this media type may be a success although it is not JSON.
func (sp *Spec) Permits(media string) bool {
	return sp.Passes(media) || sp.resource().FromXML != nil && xmljson.IsXML(media)
}
