package answer

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
	"github.com/gatehouse/gatehouse/module/rest/charset"
)

// Declared reports whether the answer must be JSON, since something is declared of the resource or the
// list in it.
func (a *Answer) Declared() bool {
	sp := a.spec
	return sp != nil && sp.Declares()
}

// Passes reports whether an answer of this media type passes unchanged where JSON is declared.
func (a *Answer) Passes(media string) bool {
	sp := a.spec
	return sp != nil && sp.resource().Passes(media)
}

// IsPage reports whether a success of this media type is no result of the API, but an HTML page or a
// download that passes unchanged.
func (a *Answer) IsPage(media string, json, attachment bool) bool {
	if a.Declared() {
		return a.Passes(media)
	}
	return !json || attachment
}

// ItemPointer returns where the resource is expected in the answer, for the log.
func (a *Answer) ItemPointer() string {
	if a.spec == nil {
		return ""
	}
	return a.spec.ItemPointer()
}

// Writes reports whether the upstream has changed something once it answers with success. An answer that
// is not as declared does not undo the change.
func (a *Answer) Writes() bool {
	return a.spec != nil && a.spec.Method != http.MethodGet
}

// Charset returns the charset that the resource's configuration names; nil is UTF-8.
func (a *Answer) Charset() *charset.Charset {
	if a.spec == nil {
		return nil
	}
	return a.spec.Shape.charset
}

// XML returns how an answer in XML is converted; ok is false if none is expected.
func (a *Answer) XML() (shape xmljson.Shape, ok bool) {
	if a.spec == nil || a.spec.resource().FromXML == nil {
		return shape, false
	}
	return a.spec.resource().FromXML.Shape(), true
}
