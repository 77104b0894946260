package resource

import "testing"

func TestWhatSomeServerTakesForAStepThroughDirectoriesIsNoID(t *testing.T) {
	table := newTable(t, []Resource{{Path: "things", Batch: []string{"a"}}})
	batch, _, _ := table.Match("PATCH", "/things")
	for path, id := range map[string]string{
		"%2e%2e": "..", ".%2E": "..", "%2e": ".", "..%2fadmin": "../admin", "a%2F..": "a/..", "a%5c..%5Cb": `a\..\b`,
		"..;": "..;", "..%3Bjsessionid=1": "..;jsessionid=1", "a%2f..;%2fb": "a/..;/b", ".;x": ".;x",
	} {
		if m, declared, refused := table.Match("GET", "/things/"+path); refused == nil || refused.Status != 404 || !declared {
			t.Errorf("%s: %+v %v", path, m, refused)
		}
		if _, ok := batch.Item(id); ok {
			t.Errorf("%q is an item's id", id)
		}
	}
	for path, want := range map[string]string{"a;b": "/things/a%3Bb", "...": "/things/...", "a..b;..": "/things/a..b%3B..", "..a": "/things/..a"} {
		m, _, refused := table.Match("GET", "/things/"+path)
		if refused != nil {
			t.Errorf("%s: %v", path, refused)
		} else if up, _ := m.Request(Asked{}); up.Path != want {
			t.Errorf("%s: %s, want %s", path, up.Path, want)
		}
	}
}
