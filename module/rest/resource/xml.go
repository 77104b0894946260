package resource

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// FromXML is what answers in XML look like. As JSON an element is a text, or an object where it
// has attributes (`@name`), elements, or text beside them (`#text`).
type FromXML struct {
	// The outermost element. Its content is what the pointers of the resource begin at.
	Root string `json:"root"`
	// Paths of elements below it that are lists however many there are: `article`,
	// `article/tags/tag`. Default: what is repeated is a list.
	Lists []string `json:"lists,omitempty"`
}

func (f *FromXML) shape() xmljson.Shape { return xmljson.Shape{Root: f.Root, Lists: f.Lists} }

func (s *shape) checkXML() error {
	if s.config.FromXML == nil {
		return nil
	}
	if err := s.config.FromXML.shape().Check(); err != nil {
		return fmt.Errorf("from xml: %w", err)
	}
	for _, f := range s.config.FailWhen {
		if f.Header == "" && !f.NotJSON {
			return fmt.Errorf("from xml: fail_when %s is not asked of answers in XML, expected fail_when header, or none: one with another outermost element is a failure", cmp.Or(f.Pointer, `""`))
		}
	}
	return nil
}

// permits reports whether an answer of this media type may be what it is although it is not
// JSON.
func (o *Operation) permits(media string) bool {
	return o.passes(media) || o.Resource.FromXML != nil && xmljson.IsXML(media)
}

// checkXML checks how a route sends XML.
func (r Route) checkXML() error {
	switch {
	case r.As == "xml" && !xmljson.IsName(r.XMLRoot):
		return fmt.Errorf("as xml: invalid element '%s', expected the name of the outermost one, such as article", r.XMLRoot)
	case r.As != "xml" && r.XMLRoot != "":
		return fmt.Errorf("as %s: unexpected element '%s', expected as xml", r.As, r.XMLRoot)
	}
	return nil
}

// XML is what an answer in XML looks like; ok says that one is read.
func (a *Answer) XML() (shape xmljson.Shape, ok bool) {
	if a.match.Operation == nil || a.match.Operation.Resource.FromXML == nil {
		return shape, false
	}
	return a.match.Operation.Resource.FromXML.shape(), true
}

// xml is a body as a document. object is the client's, for the names in a refusal.
func (s *shape) xml(m members, root string, limit int) ([]byte, *envelope.Refusal) {
	w := xmljson.Begin(root)
	isAttribute := func(member validate.Member) bool { return strings.HasPrefix(member.Name, "@") }
	for _, member := range m {
		if isAttribute(member) {
			if fault := w.Attribute(member.Name[1:], member.Value); fault != "" {
				return nil, envelope.Invalid(s.ours(member.Name), fault)
			}
		}
	}
	w.Content()
	for _, member := range m {
		if isAttribute(member) {
			continue
		}
		if fault := w.Member(member.Name, member.Value); fault != "" {
			return nil, envelope.Invalid(s.ours(member.Name), fault)
		}
		if w.Len() > limit {
			return nil, tooLargeToSend()
		}
	}
	return w.End(root), nil
}
