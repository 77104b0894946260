package job

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

func recording(t *testing.T, pointer string) *Recorder {
	t.Helper()
	at, err := splice.ParsePointer(pointer)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := splice.Compile(splice.Config{Capture: []splice.Pointer{at}})
	if err != nil {
		t.Fatal(err)
	}
	return &Recorder{header: make(http.Header), told: plan}
}

func TestEachLineReportsProgressAndTheLastIsTheResult(t *testing.T) {
	w := recording(t, "/done")
	w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
	for text, want := range map[string]int{
		"": -1, "{\"done\":5}\n": 5, "\n{\"done\":\"12.9%\"}\r\n": 12, "{\"done\":250}\n": 99, "{\"done\":-1}\n": 0, "{\"done\":\"NaN\"}\n": -2, "no json\n": -2, "{\"other\":1}\n": -2,
	} {
		w.progress.Store(nil)
		for i := range len(text) {
			_, _ = w.Write([]byte{text[i]})
		}
		got := w.progress.Load()
		if want < 0 && got != nil || want >= 0 && (got == nil || *got != want) {
			t.Errorf("%q: %v, want %d", text, got, want)
		}
	}
	_, _ = w.Write([]byte("{\"done\":100}\n{\"result\":7}"))
	if w.finishAnswer(); string(w.body) != `{"result":7}` || w.cut {
		t.Errorf("%s", w.body)
	}
}

func TestRecordedAnswerIsLimited(t *testing.T) {
	w := recording(t, "/done")
	w.Header().Set("Content-Type", "application/x-ndjson")
	long := strings.Repeat("x", 10*maxResult)
	_, _ = w.Write([]byte(long))
	if cap(w.line) > 2*maxResult {
		t.Errorf("%d bytes of a line are kept", cap(w.line))
	}
	if w.finishAnswer(); !w.cut || len(w.body) != 0 {
		t.Error("a line too long to be kept is kept")
	}
	_, _ = w.Write([]byte("\n{\"a\":1}\n"))
	if w.finishAnswer(); w.cut || string(w.body) != `{"a":1}` {
		t.Errorf("the next line: %v %s", w.cut, w.body)
	}
	w = recording(t, "/done")
	w.Header().Set("Content-Type", "text/plain")
	for range 100 {
		if n, err := w.Write([]byte(long)); n != len(long) || err != nil {
			t.Fatal(n, err)
		}
	}
	if !w.cut || len(w.body) > maxResult+1 {
		t.Errorf("%d bytes are kept", len(w.body))
	}
}

func TestAnyAnswerBecomesAJobResult(t *testing.T) {
	for body, want := range map[string]string{
		"":                                       "",
		" \n":                                    "",
		`{"id": 12345678901234567890 , "a":1.0}`: `{"id":12345678901234567890,"a":1.0}`,
		"\xef\xbb\xbf[1]":                        `[1]`,
		"done":                                   `"done"`,
		"12":                                     `12`,
		"{":                                      `"{"`,
		"\xff\xfe":                               "",
		strings.Repeat("1", maxResult):           strings.Repeat("1", maxResult),
	} {
		if got := newResult([]byte(body), false); string(got.JSON) != want || got.Omitted {
			t.Errorf("%.50q: %.50s, want %.50s", body, got.JSON, want)
		}
	}
	for _, body := range []string{strings.Repeat("1", maxResult+1), strings.Repeat("\x01", maxResult/2)} {
		if got := newResult([]byte(body), false); !got.Omitted || got.JSON != nil {
			t.Errorf("%d bytes were kept", len(got.JSON))
		}
	}
	if got := newResult([]byte("1"), true); !got.Omitted {
		t.Error("a beginning was kept for the whole")
	}
}

func TestUpstreamErrorBecomesTheJobsError(t *testing.T) {
	if f := failureOf([]byte(`{"error":{"code":"not_found","message":"No.","field":"a"}}`)); f.Code != "not_found" || f.Message != "No." || *f.Field != "a" {
		t.Errorf("%+v", f)
	}
	for _, body := range []string{"", "{", `{"error":1}`, `{"error":{}}`} {
		if f := failureOf([]byte(body)); f.Code != string(UpstreamFailed) || f.Message == "" {
			t.Errorf("%s: %+v", body, f)
		}
	}
}
