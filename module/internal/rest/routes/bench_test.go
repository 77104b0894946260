package routes

import (
	"io"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func BenchmarkListFromRequestToPlan(b *testing.B) {
	table, err := New([]resource.Resource{{
		Path: "articles", List: &list.Config{Items: "/result/list", Total: "/result/total"}, ID: "/aid",
		Rename: map[string]string{"id": "aid", "title": "subject"}, Values: map[string]map[string]string{"state": {"draft": "0", "published": "1"}},
		Links: []link.Link{{Rel: "self"}, {Rel: "delete"}},
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m, _, _ := table.Match("GET", "/articles")
		up, refused := m.Request(mapping.Asked{RawQuery: "page=2&limit=100"})
		if refused != nil {
			b.Fatal(refused)
		}
		m.Answer(up, answer.Caller{}).Editor(io.Discard).Release()
	}
}
