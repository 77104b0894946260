package jobs

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"
)

const forms = `job uploads {
		upstream POST /upload?mod=import
		fetch file_url part file max 1MiB allow 127.0.0.1/32
		progress /percent
		result /made
	}
	job reports {
		upstream POST /report
		when preferred
		timeout 1s
	}
	resource reports {
		upstream GET /reports /reports
		upstream POST /reports /reports
	}
	undeclared pass`

func TestFileIsSentAsFormFieldAndLinesReportProgress(t *testing.T) {
	r := start(t, forms)
	// Neither a form's type nor a name from outside reaches the upstream as it is.
	at := files(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded")
		w.Header().Set("Content-Disposition", `attachment; filename="../x\"y.csv"`)
		_, _ = w.Write([]byte("mod=article&act=del"))
	})
	more := make(chan struct{})
	r.upstream.set(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, "{\"percent\":40}\n")
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, "{\"percent\":100,\"made\":[1,2]}\n")
	})
	p := r.do("one", http.MethodPost, "/uploads", fetching(at))
	read(t, p, 202)
	job := p.Header.Get("Location")
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		s := read(t, r.do("one", http.MethodGet, job, ""), 200)
		if s.Progress != nil && *s.Progress == 40 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", s)
		}
	}
	close(more)
	if s := r.await("one", job, "succeeded"); string(s.Result) != "[1,2]" || *s.Progress != 100 {
		t.Errorf("%+v", s)
	}
	came := r.upstream.arrivals()[0]
	media, params, _ := mime.ParseMediaType(came.header.Get("Content-Type"))
	form, err := multipart.NewReader(bytes.NewReader([]byte(came.body)), params["boundary"]).ReadForm(1 << 20)
	if err != nil || media != "multipart/form-data" || came.length != int64(len(came.body)) {
		t.Fatalf("%v %+v", err, came)
	}
	if f := form.File["file"]; len(f) != 1 || len(form.Value) != 0 || f[0].Filename != "x_y.csv" || f[0].Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%+v", form)
	}
}

func TestPreferAsyncTurnsASlowRequestIntoAJob(t *testing.T) {
	r := start(t, forms)
	p := r.do("one", http.MethodPost, "/reports", `{"year":2026}`)
	if p.Status != 201 || p.Header.Get("Location") != "" {
		t.Fatalf("without a preference: %d %s", p.Status, p.Body)
	}
	p = r.do("one", http.MethodPost, "/reports", `{"year":2026}`, "Prefer", "respond-async")
	read(t, p, 202)
	if p.Header.Get("Preference-Applied") != "respond-async" || !strings.HasPrefix(p.Header.Get("Vary"), "Prefer, Authorization") {
		t.Errorf("%v", p.Header)
	}
	s := r.await("one", p.Header.Get("Location"), "succeeded")
	if came := r.upstream.arrivals(); len(came) != 2 || came[1].body != `{"year":2026}` || came[1].header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", came)
	}
	if string(s.Result) != `{"success":true,"result":{"imported":0}}` {
		t.Errorf("%s", s.Result)
	}
	r.upstream.hold()
	defer r.upstream.release()
	p = r.do("one", http.MethodPost, "/reports", `{}`, "Prefer", "respond-async")
	if s := r.await("one", p.Header.Get("Location"), "failed"); s.Error.Code != "timeout" {
		t.Errorf("%+v", s.Error)
	}
	r.upstream.release()
	if p := r.do("one", http.MethodGet, "/reports", ""); p.Status == 405 {
		t.Error("the resource of the same path is hidden")
	}
}
