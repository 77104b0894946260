package userimport

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// csvReader reads RFC 4180 with a header line.
type csvReader struct {
	csv     *csv.Reader
	limit   *limitedReader
	columns []string
	number  int // of the line that was read last
}

func newCSVReader(file *bufio.Reader) (*csvReader, error) {
	limit := &limitedReader{file: file}
	r := &csvReader{csv: csv.NewReader(limit), limit: limit}
	r.csv.ReuseRecord = true
	limit.allow()
	head, err := r.csv.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty; expected a header line with the names of the columns")
	case errors.Is(err, errLong):
		return nil, fmt.Errorf("the header line is longer than %d bytes", maxLine)
	case errors.As(err, new(*csv.ParseError)):
		return nil, errors.New("the header line is no CSV with commas between its columns")
	case err != nil:
		return nil, err
	}
	if wrong := separatorOf(head); wrong != "" {
		return nil, fmt.Errorf("the columns of the header line are separated by %s; expected commas", wrong)
	}
	for i, name := range head {
		if !utf8.ValidString(name) {
			return nil, errors.New("the header line is not UTF-8")
		}
		name = strings.TrimSpace(name)
		if !strings.HasPrefix(name, claimColumn) {
			name = strings.ToLower(name)
		}
		switch {
		case !isColumn(name): // not quoted: without a header line it would be somebody's field
			return nil, fmt.Errorf("column %d of the header line has an unknown name; expected some of %s, and claims.<name>", i+1, fields)
		case slices.Contains(r.columns, name):
			return nil, fmt.Errorf("column %d of the header line, %s, is there twice", i+1, name)
		}
		r.columns = append(r.columns, name)
	}
	if !slices.Contains(r.columns, "username") {
		return nil, errors.New("the header line has no column username")
	}
	return r, nil
}

// separatorOf names what separates the columns of a header line that has no comma, or is empty.
func separatorOf(head []string) string {
	if len(head) != 1 {
		return ""
	}
	for sign, name := range map[string]string{";": "semicolons", "\t": "tabs", "|": "bars"} {
		first, _, found := strings.Cut(head[0], sign)
		if found && isColumn(strings.ToLower(strings.TrimSpace(first))) {
			return name
		}
	}
	return ""
}

func (r *csvReader) Read() (line Line, err error) {
	r.limit.allow()
	cells, err := r.csv.Read()
	var bad *csv.ParseError
	switch {
	case errors.Is(err, errLong):
		return line, fmt.Errorf("the user behind line %d is longer than %d bytes: is a quote not closed?", r.number, maxLine)
	case errors.As(err, &bad):
		r.number = bad.Line
		if errors.Is(bad.Err, csv.ErrFieldCount) {
			return line, &LineError{bad.StartLine, "", fmt.Sprintf("has %d cells, expected %d", len(cells), len(r.columns))}
		}
		return line, &LineError{bad.StartLine, "", "is no valid CSV: " + bad.Err.Error()}
	case err != nil:
		return line, err
	}
	line.Number, _ = r.csv.FieldPos(0)
	r.number = line.Number
	for i, cell := range cells {
		column := r.columns[i]
		if !utf8.ValidString(cell) {
			return line, &LineError{line.Number, column, "is not UTF-8"}
		}
		if cell == "" {
			continue
		}
		if reason := setColumn(&line.User, column, strings.Clone(cell)); reason != "" {
			return line, &LineError{line.Number, column, reason}
		}
	}
	return line, nil
}

// errLong is the error of a [limitedReader].
var errLong = errors.New("too long")

// limitedReader bounds what one line takes: encoding/csv would read a file to its end for a quote that is not closed.
type limitedReader struct {
	file io.Reader
	left int
}

// allow lets one more line be read, and the buffer of encoding/csv be filled behind it.
func (r *limitedReader) allow() { r.left = maxLine + 4096 }

func (r *limitedReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLong
	}
	n, err := r.file.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}
