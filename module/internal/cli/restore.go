package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/backup"
	"github.com/gatehouse/gatehouse/module/internal/cli/progress"
	"github.com/gatehouse/gatehouse/module/store"
)

func restoreCommand() *cobra.Command {
	cmd := offlineCommand("restore FILE", "Replaces the state of a stopped gateway with a backup", `
Checks a file that `+"`caddy gatehouse backup`"+` has written and replaces the configuration's state
file (`+"`store bolt`"+`) with it, unless a gateway has that file open. The old state file is kept
beside it under another name. FILE is not changed. Run the command with the environment of the
service: the path of the state file may depend on it (XDG_DATA_HOME).

The secret must be that of the backup. It is taken from the configuration (`+"`secret`"+`), else from
FILE.secret or the file given by --secret, else from the file beside the state file. It is tested
before anything is changed.

A backup brings back what has ended since it was taken: sessions, grants and consents that were
ended, tokens that were revoked, refresh tokens and codes that were used, passwords that were
changed, and users that were locked or deleted. Jobs that were waiting at the time run again.
--end-sessions removes all sessions, grants, consents and signing keys from the restored state:
everyone has to sign in again, and no token issued before is accepted. It does not help with
the rest: the audit trail shows which users and clients were changed.

	$ systemctl stop gatehouse
	$ caddy gatehouse restore /var/backups/gatehouse.db --end-sessions --config /etc/gatehouse/Caddyfile`, exactly("FILE"), restoreState)
	cmd.Flags().String("secret", "", "File with the secret of the backup (default FILE.secret)")
	cmd.Flags().Bool("end-sessions", false, "Make everyone sign in again, and reject all tokens issued so far")
	return cmd
}

// restored is what the command prints.
type restored struct {
	State string   `json:"state"` // the file
	Aside []string `json:"aside"` // what was there before
	Ended int      `json:"ended,omitempty"`
	*backup.Contents
	note string
}

func restoreState(r *run) error {
	ctx, stop := r.interruptible()
	defer stop()
	from := r.args[0]
	kept, err := r.loadStore(r.text("config"))
	if err != nil {
		return err
	}
	defer kept.close()
	source, ok := kept.Source.(store.FileSource)
	if !ok {
		return fmt.Errorf("%s: its store has no file; a backup is restored into `store bolt`, and `caddy gatehouse move` copies that to Redis", kept.file)
	}
	out := restored{Aside: []string{}}
	state, beside := source.Files()
	out.State = state
	if same(from, state) {
		return fmt.Errorf("%s is the state file itself", from)
	}
	if out.Contents, err = r.inspect(ctx, source, from); err != nil {
		return err
	}
	how := store.Restoration{Snapshot: from}
	if how.Secret, err = r.secretOf(from, beside, kept.secrets, &out); err != nil {
		return err
	}
	if r.yes("end-sessions") {
		how.Prepare = func(ctx context.Context, b store.Backend) (err error) {
			out.Ended, err = backup.EndSessions(ctx, b)
			return err
		}
	}
	size := int64(0)
	if info, err := os.Stat(from); err == nil {
		size = info.Size()
	}
	bar := r.bar("Copying", progress.Bytes, size)
	how.Progress = bar.Add
	done, err := source.Restore(ctx, how)
	bar.End()
	out.Aside = append(out.Aside, done.Aside...)
	if err != nil {
		if len(out.Aside) > 0 {
			err = fmt.Errorf("%w. What was there before is in %s", err, strings.Join(out.Aside, " and "))
		}
		return err
	}
	return r.print(out, func(w io.Writer) { restoredText(w, &out, how.Prepare != nil) })
}

func restoredText(w io.Writer, out *restored, ended bool) {
	row(w, fmt.Sprintf("Restored %d records to %s.", out.Records, out.State))
	if len(out.Aside) == 0 {
		row(w, "No state was there before. If the gateway had one, it is elsewhere: run the command with the configuration and the environment of the service.")
	}
	for _, name := range out.Aside {
		row(w, "What was there before is in "+name+".")
	}
	if out.note != "" {
		row(w, out.note)
	}
	if ended {
		row(w, "Everybody signs in again, and no token issued before now is accepted.")
		return
	}
	row(w, "Sessions, refresh tokens, consents and passwords are as they were at the backup: what was revoked, used or changed since counts again.")
	row(w, "With --end-sessions everybody signs in again instead.")
}

// secretOf finds the secret of a backup and checks it. It returns what must be kept beside the state, nil if that is
// there already or configured.
func (r *run) secretOf(from, beside string, configured [][]byte, out *restored) ([]byte, error) {
	if len(configured) > 0 {
		if r.given("secret") {
			return nil, errors.New("--secret: the configuration has a `secret`, which the gateway uses instead of the store's own")
		}
		if err := out.CheckSecrets(configured...); err != nil {
			return nil, fmt.Errorf("the `secret` of the configuration: %w. Configure the one that the gateway had at the time of the backup; without `secret` it was the one in the file beside the state", err)
		}
		return nil, nil
	}
	name := from + secretSuffix
	if r.given("secret") {
		name = r.text("secret")
	} else if isAbsent(name) {
		if name = beside; isAbsent(name) {
			return nil, fmt.Errorf("the secret of the backup is missing: name its file with --secret, or put it into %s", from+secretSuffix)
		}
		out.note = "The secret in " + beside + " stays in use."
	}
	value, err := readSecretFile(name)
	if err != nil {
		return nil, err
	}
	if err := out.CheckSecrets(value); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

// same reports whether two names are of one file.
func same(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}
