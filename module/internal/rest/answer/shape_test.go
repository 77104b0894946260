package answer

import (
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

func TestUnroutableIDsHaveNoLink(t *testing.T) {
	s := Shape{ShapeConfig: ShapeConfig{Item: &pathpattern.Segment{Text: "id", Param: true}}}
	for _, id := range []splice.Scalar{
		{Kind: splice.String, Text: "7/revisions"}, {Kind: splice.String, Text: ".."}, {Kind: splice.String}, {Kind: splice.Null, Text: "null"}, {Long: true},
	} {
		if text, ok := s.idText(id); ok {
			t.Errorf("%+v has the address %s", id, text)
		}
	}
	if text, ok := s.idText(splice.Scalar{Kind: splice.Number, Text: "7"}); !ok || text != "7" {
		t.Errorf("7 has the address %q, %t", text, ok)
	}
}
