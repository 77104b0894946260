package resource

import (
	"cmp"
	"fmt"

	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
)

// FromXML is the structure of responses in XML. As JSON, an element is a text, or an object if it has
// attributes (`@name`), child elements, or text beside them (`#text`).
type FromXML struct {
	// The root element. The resource's pointers start at its content. Required.
	Root string `json:"root"`
	// Paths of elements below the root that are lists however many there are: `article`,
	// `article/tags/tag`. Default: elements that are repeated.
	Lists []string `json:"lists,omitempty"`
}

// Shape returns how the documents are converted to JSON.
func (f *FromXML) Shape() xmljson.Shape { return xmljson.Shape{Root: f.Root, Lists: f.Lists} }

func (r *Resource) checkXML() error {
	if r.FromXML == nil {
		return nil
	}
	if err := r.FromXML.Shape().Check(); err != nil {
		return fmt.Errorf("from xml: %w", err)
	}
	for _, f := range r.FailWhen {
		if f.Header == "" && !f.NotJSON {
			return fmt.Errorf("from xml: fail_when %s is not asked of answers in XML, expected fail_when header, or none: one with another outermost element is a failure", cmp.Or(f.Pointer, `""`))
		}
	}
	return nil
}

// CheckXML checks how a route sends XML.
func (r Route) CheckXML() error {
	switch {
	case r.As == "xml" && !xmljson.IsName(r.XMLRoot):
		return fmt.Errorf("as xml: invalid element '%s', expected the name of the outermost one, such as article", r.XMLRoot)
	case r.As != "xml" && r.XMLRoot != "":
		return fmt.Errorf("as %s: unexpected element '%s', expected as xml", r.As, r.XMLRoot)
	}
	return nil
}
