package workers

import (
	"strings"
	"testing"
)

func TestJobsTakeTurns(t *testing.T) {
	for _, c := range []struct {
		name    string
		marks   string // a letter of a caller and a digit for each, oldest first
		started string // callers, in the order in which their jobs were started
		running string // jobs
		want    string
	}{
		{"nobody", "", "abc", "", ""},
		{"one caller", "a1 a2 a3", "", "", "a1 a2 a3"},
		{"one caller with many, others after it", "a1 a2 a3 a4 b1 c1 b2", "", "", "a1 b1 c1 a2 b2 a3 a4"},
		{"one came while the first waited", "a1 a2 a3 b1", "a", "", "a1 b1 a2 a3"},
		{"one came while a job of the first ran", "a1 a2 a3 b1", "a", "a1", "b1 a1 a2 a3"},
		{"and a job of the second", "a1 a2 b1 b2 c1", "ab", "a1 b1", "c1 a1 b1 a2 b2"},
		{"the first again", "a1 a2 b1 b2 c1", "aba", "", "b1 a1 c1 b2 a2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			order := turns{last: make(map[Mark]int)}
			for _, client := range c.started {
				order.started(Mark{Client: string(client)})
			}
			running := func(id string) bool { return strings.Contains(c.running, id) }
			if got := textOf(order.sort(marksOf(c.marks), running)); got != c.want {
				t.Errorf("%s", got)
			}
			if most := strings.Count(c.marks, "1"); len(order.last) > most {
				t.Errorf("callers without jobs are remembered: %v", order.last)
			}
		})
	}
	callers := []Mark{{ID: "1", Client: "a"}, {ID: "2", Client: "a"}, {ID: "3", Client: "a", User: "u"}, {ID: "4", From: "192.0.2.1"}, {ID: "5", From: "192.0.2.2"}}
	want := []string{"1", "3", "4", "5", "2"}
	order := turns{last: make(map[Mark]int)}
	nowhere := func(string) bool { return false }
	for i, m := range order.sort(callers, nowhere) {
		if m.ID != want[i] {
			t.Errorf("place %d: %+v", i, m)
		}
	}
	// Whoever waits is not passed by callers who keep coming.
	order.started(callers[0].Caller())
	for i, newcomer := range []string{"x1", "y1", "z1"} {
		if got := order.sort(append(marksOf("a2"), marksOf(newcomer)...), nowhere); i > 0 && got[0].ID != "a2" {
			t.Errorf("%s passes somebody who waits", newcomer)
		}
	}
}

func marksOf(text string) (marks []Mark) {
	for i := 0; i+1 < len(text); i += 3 {
		marks = append(marks, Mark{ID: text[i : i+2], Client: text[i : i+1]})
	}
	return marks
}

func textOf(marks []Mark) (text string) {
	for i, m := range marks {
		if i > 0 {
			text += " "
		}
		text += m.ID
	}
	return text
}
