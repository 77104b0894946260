package userimport

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// Form is how a file is written.
type Form string

// The forms of files.
const (
	CSV       Form = "csv"   // with a header line
	JSONLines Form = "jsonl" // an object on each line
)

// FormOf returns the form that --input names, or that the extension of a file does.
func FormOf(input, name string) (Form, error) {
	switch input {
	case string(CSV), string(JSONLines):
		return Form(input), nil
	case "":
	default:
		return "", errors.New("--input: expected csv or jsonl")
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return CSV, nil
	case ".jsonl", ".ndjson":
		return JSONLines, nil
	}
	return "", errors.New("the name of the file does not say what it is: name it .csv or .jsonl, or give --input csv or --input jsonl")
}

// maxLine bounds the memory for a user, in bytes of the file.
const maxLine = adminapi.MaxBody

// Line is a user of the file.
type Line struct {
	Number int // counted from 1
	User   adminapi.ImportedUser
}

// LineError says why a line is refused. The lines after it are read all the same.
type LineError struct {
	Line          int
	Field, Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s %s", e.Line, e.Field, e.Reason) }

// Reader reads users one by one.
type Reader interface {
	// Read returns the next user, a *[LineError], io.EOF, or an error after which nothing can be read.
	Read() (Line, error)
}

// NewReader begins to read a file.
func NewReader(file io.Reader, form Form) (Reader, error) {
	buffered := bufio.NewReader(file)
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" { // Windows programs put a byte order mark there
		_, _ = buffered.Discard(len(mark))
	}
	if form == CSV {
		return newCSVReader(buffered)
	}
	return &jsonReader{file: buffered}, nil
}

// jsonReader reads JSON lines.
type jsonReader struct {
	file   *bufio.Reader
	number int
}

func (r *jsonReader) Read() (Line, error) {
	for {
		text, tooLong, err := r.readLine()
		if err != nil {
			return Line{}, err
		}
		r.number++
		line := Line{Number: r.number}
		switch text = bytes.TrimSpace(text); {
		case tooLong:
			return line, &LineError{line.Number, "", fmt.Sprintf("is longer than %d bytes", maxLine)}
		case len(text) == 0:
			continue
		case !utf8.Valid(text):
			return line, &LineError{line.Number, "", "is not UTF-8"}
		}
		if field, reason := decodeUser(text, &line.User); reason != "" {
			return line, &LineError{line.Number, field, reason}
		}
		return line, nil
	}
}

// readLine returns the next line. The rest of a line that is too long is skipped.
func (r *jsonReader) readLine() (text []byte, tooLong bool, err error) {
	for {
		part, err := r.file.ReadSlice('\n')
		tooLong = tooLong || len(text)+len(part) > maxLine
		if !tooLong {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(text) > 0 || tooLong):
			return text, tooLong, nil
		}
		return text, tooLong, err
	}
}
