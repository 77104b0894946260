package userimport

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// maxListed bounds the refused lines of a report.
const maxListed = 1000

// maxBatch is the size of the users of one request, in bytes of JSON. The rest of a body is for what is around them.
const maxBatch = adminapi.MaxBody - 1024

// Refusal says why a line was refused.
type Refusal struct {
	Line   int    `json:"line"`
	Field  string `json:"field,omitempty"`
	Reason string `json:"reason"`
}

// Report counts what became of the lines, or with DryRun what would become of them.
type Report struct {
	DryRun  bool `json:"dry_run"`
	Created int  `json:"created"`
	Present int  `json:"present"` // were there and are as before
	Updated int  `json:"updated"`
	Refused int  `json:"refused"`
	// Refusals are the first 1,000 of them.
	Refusals []Refusal `json:"refused_lines"`
	// Done is the line up to which everything is done.
	Done int `json:"done_up_to_line"`
}

// Summary says it in one sentence.
func (r *Report) Summary() string {
	if r.DryRun {
		return fmt.Sprintf("Nothing was changed: %d users would be created and %d updated, %d are there already, %d lines are refused.", r.Created, r.Updated, r.Present, r.Refused)
	}
	return fmt.Sprintf("Created %d users, updated %d, left %d alone who were there already, refused %d lines.", r.Created, r.Updated, r.Present, r.Refused)
}

func (r *Report) refuse(line int, field, reason string) {
	r.Refused++
	if len(r.Refusals) < maxListed {
		r.Refusals = append(r.Refusals, Refusal{line, field, reason})
	}
}

// Importer imports the users of a file.
type Importer struct {
	DryRun, Update bool
	// Send sends a request and returns the results of its first users.
	Send func(context.Context, adminapi.Import) (adminapi.ImportResults, error)

	report Report
	batch  []Line
	size   int // of the batch, in bytes
	seen   seen
}

// Run imports all lines. It stops between two requests when ctx ends. The report counts what was done, also beside an
// error.
func (i *Importer) Run(ctx context.Context, file Reader) (Report, error) {
	i.report = Report{DryRun: i.DryRun, Refusals: []Refusal{}}
	i.seen = newSeen()
	err := i.importLines(ctx, file)
	slices.SortFunc(i.report.Refusals, func(a, b Refusal) int { return cmp.Compare(a.Line, b.Line) })
	return i.report, err
}

func (i *Importer) importLines(ctx context.Context, file Reader) error {
	for {
		line, err := file.Read()
		var refused *LineError
		switch {
		case errors.Is(err, io.EOF):
			return i.flush(ctx)
		case errors.As(err, &refused):
			i.report.refuse(refused.Line, refused.Field, refused.Reason)
			continue
		case err != nil:
			return errors.Join(i.flush(ctx), err)
		}
		if err := i.add(ctx, line); err != nil {
			return err
		}
	}
}

// add puts a line into the batch, and sends the batch first if there is no room in it.
func (i *Importer) add(ctx context.Context, line Line) error {
	if field, first := i.seen.before(line); first != 0 {
		i.report.refuse(line.Number, field, fmt.Sprintf("is the same as in line %d", first))
		return nil
	}
	user, err := json.Marshal(line.User)
	size := len(user) + len(",")
	switch {
	case err != nil:
		return err
	case size > maxBatch:
		i.report.refuse(line.Number, "", fmt.Sprintf("is longer than %d bytes", maxBatch))
		return nil
	case i.size+size > maxBatch || len(i.batch) == adminapi.MaxImport:
		if err := i.flush(ctx); err != nil {
			return err
		}
	}
	i.batch, i.size = append(i.batch, line), i.size+size
	return nil
}

// errNoProgress is the error of an answer that the API does not give.
var errNoProgress = errors.New("what answers is no gateway's admin endpoint: it has results for no user, or for others")

// flush sends the batch, as often as it takes.
func (i *Importer) flush(ctx context.Context) error {
	for len(i.batch) > 0 {
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		in := adminapi.Import{DryRun: i.DryRun, Update: i.Update}
		for _, line := range i.batch {
			in.Users = append(in.Users, line.User)
		}
		got, err := i.Send(ctx, in)
		if err != nil {
			return err
		}
		if n := len(got.Results); n == 0 || n > len(i.batch) {
			return errNoProgress
		}
		for n, result := range got.Results {
			i.count(i.batch[n].Number, result)
		}
		i.batch = i.batch[len(got.Results):]
	}
	i.batch, i.size = i.batch[:0], 0
	return nil
}

func (i *Importer) count(line int, result adminapi.ImportResult) {
	i.report.Done = line
	switch result.Outcome {
	case adminapi.ImportCreated:
		i.report.Created++
	case adminapi.ImportPresent:
		i.report.Present++
	case adminapi.ImportUpdated:
		i.report.Updated++
	default:
		i.report.refuse(line, result.Field, result.Reason)
	}
}
