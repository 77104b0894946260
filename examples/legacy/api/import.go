package api

import (
	"bufio"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxImport  = 256 << 20
	maxLine    = 1 << 20
	maxPerFile = 1000
)

// importArticles makes an article of each line of the body, or of the first file of
// a multipart form, and takes its time. A form without a file imports nothing.
func (a *api) importArticles(w http.ResponseWriter, r *http.Request) (int, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxImport)
	select {
	case <-time.After(a.pause):
	case <-r.Context().Done():
		return 0, errCrash
	}
	file, err := upload(r)
	if err != nil {
		return 0, errForm
	}
	n := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		subject := strings.TrimSpace(lines.Text())
		if l := utf8.RuneCountInString(subject); l < 3 || l > maxSubject || !utf8.ValidString(subject) {
			continue
		}
		if n == maxPerFile {
			break
		}
		if _, ok := a.shelf.add(article{Subject: subject, State: 0, Author: caller(r).Subject}); !ok {
			return n, errFull
		}
		n++
	}
	if lines.Err() != nil {
		return n, errForm
	}
	return n, nil
}

func upload(r *http.Request) (io.Reader, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/x-www-form-urlencoded", "application/json":
		return strings.NewReader(""), nil
	case "multipart/form-data":
		form, err := r.MultipartReader()
		if err != nil {
			return nil, err
		}
		for {
			part, err := form.NextPart()
			if err == io.EOF {
				return strings.NewReader(""), nil
			}
			if err != nil {
				return nil, err
			}
			if part.FileName() != "" {
				return part, nil
			}
		}
	}
	return r.Body, nil
}
