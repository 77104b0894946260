package mapping

import (
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// xml is a body as a document. object is the client's, for the names in a refusal.
func (m *Mapping) xml(all members, root string, limit int) ([]byte, *envelope.Refusal) {
	w := xmljson.Begin(root)
	isAttribute := func(member validate.Member) bool { return strings.HasPrefix(member.Name, "@") }
	for _, member := range all {
		if isAttribute(member) {
			if fault := w.Attribute(member.Name[1:], member.Value); fault != "" {
				return nil, envelope.Invalid(m.Names.Ours(member.Name), fault)
			}
		}
	}
	w.Content()
	for _, member := range all {
		if isAttribute(member) {
			continue
		}
		if fault := w.Member(member.Name, member.Value); fault != "" {
			return nil, envelope.Invalid(m.Names.Ours(member.Name), fault)
		}
		if w.Len() > limit {
			return nil, tooLargeToSend()
		}
	}
	return w.End(root), nil
}
