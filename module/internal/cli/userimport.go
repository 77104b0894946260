package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/adminclient"
	"github.com/gatehouse/gatehouse/module/internal/cli/progress"
	"github.com/gatehouse/gatehouse/module/internal/cli/userimport"
)

func importCommand() *cobra.Command {
	cmd := adminCommand("import FILE", "Adds the users of another program", `
Reads users from a CSV file with a header line (.csv) or from JSON lines (.jsonl); FILE - is
standard input. The fields are id, username, password_hash, password, name, nickname, picture,
email, phone, locked and claims (a JSON object); a CSV column may also be one claim, such as
claims.groups. Only username is required.

password_hash is a hash written by another program, such as bcrypt, Argon2, PBKDF2 or scrypt by
Django, Werkzeug and passlib; it is replaced with Argon2id when the user signs in. password is a
plain-text password, which the gateway hashes. With neither, the user cannot sign in until
`+"`caddy gatehouse user passwd`"+` sets a password. An id is kept, so that applications recognize
the user; it must never have been another person's.

Existing users are left alone, so an interrupted import can be run again. With --update, the
fields and claims in the file replace those of the user; this never unlocks a user and never
replaces a password. Rejected lines are listed and the others imported; the exit code is then 1.

	$ caddy gatehouse user import users.csv --dry-run`, exactly("FILE"), importUsers)
	cmd.Flags().String("input", "", "Format of FILE: csv or jsonl (default: by the file name)")
	cmd.Flags().Bool("dry-run", false, "Check everything and change nothing")
	cmd.Flags().Bool("update", false, "Update existing users")
	return cmd
}

func importUsers(r *run) error {
	ctx, stop := r.interruptible()
	defer stop()
	name := r.args[0]
	form, err := userimport.FormOf(r.text("input"), name)
	if err != nil {
		return err
	}
	file, size := r.in, int64(0)
	if name != "-" {
		if file, err = os.Open(name); err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		if info, err := file.Stat(); err == nil {
			size = info.Size()
		}
	}
	bar := r.bar("Importing", progress.Bytes, size)
	users, err := userimport.NewReader(bar.Reading(file), form)
	if err != nil {
		bar.End()
		return fmt.Errorf("%s: %w", name, err)
	}
	importer := userimport.Importer{
		DryRun: r.yes("dry-run"), Update: r.yes("update"),
		Send: func(_ context.Context, in adminapi.Import) (out adminapi.ImportResults, err error) {
			return out, r.call("POST", adminapi.Path("import", "users"), in, &out) // not interrupted half way
		},
	}
	report, failed := importer.Run(ctx, users)
	bar.End()
	if err := r.print(report, func(w io.Writer) { importText(w, &report) }); err != nil {
		return err
	}
	switch {
	case failed != nil:
		e := &adminclient.Error{Exit: adminclient.ExitRefused, Code: "incomplete", Message: failed.Error()}
		errors.As(failed, &e)
		e.Message += fmt.Sprintf(". Lines up to %d are done; the same command goes on, and leaves alone who is there", report.Done)
		return e
	case report.Refused > 0:
		return &adminclient.Error{Exit: adminclient.ExitRefused, Code: "lines_refused", Message: fmt.Sprintf("%d lines were refused", report.Refused)}
	}
	return nil
}

func importText(w io.Writer, report *userimport.Report) {
	row(w, report.Summary())
	if len(report.Refusals) > 0 {
		row(w, "LINE", "FIELD", "REASON")
	}
	for _, refused := range report.Refusals {
		row(w, strconv.Itoa(refused.Line), refused.Field, refused.Reason)
	}
	if more := report.Refused - len(report.Refusals); more > 0 {
		row(w, fmt.Sprintf("%d more lines were refused.", more))
	}
}
