package routes

import (
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func TestForbiddenRequestPartsAreRefusedOrDropped(t *testing.T) {
	table := newTable(t, []resource.Resource{{Path: "things", Rename: map[string]string{"title": "subject"}}})
	for _, c := range []struct {
		name, method, path string
		asked              mapping.Asked
		status             int
		field              string
	}{
		{"the upstream's name of a member", "POST", "/things", mapping.Asked{Body: []byte(`{"subject":"x"}`)}, 400, "subject"},
		{"a compressed body", "POST", "/things", mapping.Asked{Header: http.Header{"Content-Encoding": {"gzip"}}, Body: []byte(`{}`)}, 415, ""},
		{"a parameter of one document", "GET", "/things/1", mapping.Asked{RawQuery: "y=1&x=2"}, 400, "x"},
	} {
		header := http.Header{"Content-Type": {"application/json"}}
		for name, values := range c.asked.Header {
			header[name] = values
		}
		c.asked.Header = header
		m, _, refused := table.Match(c.method, c.path)
		if refused != nil {
			t.Fatal(refused)
		}
		if _, refused = m.Request(c.asked); refused == nil || refused.Status != c.status || refused.Field != c.field {
			t.Errorf("%s: %v", c.name, refused)
		}
	}
	m, _, _ := table.Match("GET", "/things/1")
	up, refused := m.Request(mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"a":1}`)})
	if media, named := up.Set["Content-Type"]; refused != nil || !up.Replaced || len(up.Body) != 0 || !named || media != nil {
		t.Errorf("the body of a GET: %+v %v", up, refused)
	}
}

func TestUnconditionalFailWhenIsRefusedWithXML(t *testing.T) {
	r := resource.Resource{Path: "things", FromXML: &resource.FromXML{Root: "things"}}
	o := newTable(t, []resource.Resource{r}).Operations()[0]
	for _, c := range []struct {
		fail envelope.FailWhen
		fine bool
	}{
		{envelope.FailWhen{Pointer: "/ok", Op: "==", Values: []string{"0"}, Status: 422}, false},
		{envelope.FailWhen{Header: "X-Failed", Op: "exists", Status: 422}, true},
		{envelope.FailWhen{NotJSON: true}, true},
	} {
		if _, err := o.Dialect(envelope.Config{FailWhen: []envelope.FailWhen{c.fail}}); (err == nil) != c.fine {
			t.Errorf("%+v: %v", c.fail, err)
		}
	}
}
