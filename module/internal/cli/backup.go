package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/backup"
	"github.com/gatehouse/gatehouse/module/internal/cli/progress"
	"github.com/gatehouse/gatehouse/module/store"
)

// secretSuffix makes the default name of a backup's secret from that of its file.
const secretSuffix = ".secret"

func backupCommand() *cobra.Command {
	cmd := adminCommand("backup FILE", "Copies the state of a running gateway into a file", `
Takes a consistent copy of the file of `+"`store bolt`"+` while the gateway keeps serving, checks the
copy, and only then renames it to FILE, which must not exist. Meanwhile the disk of the state
file needs as much free space as the state takes.

FILE never contains the secret that encrypts the signing keys. Unless the configuration has it
(`+"`secret`"+`), it is copied from beside the state file to FILE.secret, or to the file given by
--secret. So run the command where the gateway runs, as its user or as root. Both files get mode
0600. Keep them apart: whoever has both can sign tokens. The secret does not change, so one
copy of it is enough for all backups; with --no-secret it is not copied.

	$ caddy gatehouse backup /var/backups/gatehouse.db --secret /root/gatehouse.secret`, exactly("FILE"), backupState)
	cmd.Flags().String("secret", "", "File for the secret (default FILE.secret)")
	cmd.Flags().Bool("no-secret", false, "Do not copy the secret")
	return cmd
}

// backedUp is what the command prints.
type backedUp struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	*backup.Contents
	Secret string `json:"secret,omitempty"` // the file it was copied to
	note   string
}

func backupState(r *run) error {
	ctx, stop := r.interruptible()
	defer stop()
	out := backedUp{File: r.args[0]}
	if r.given("secret") && r.yes("no-secret") {
		return errors.New("--secret says where the secret goes and --no-secret that it goes nowhere; give one of them")
	}
	if r.given("secret") && isSameName(r.text("secret"), out.File) {
		return fmt.Errorf("--secret names %s, the file of the backup itself; name another one", out.File)
	}
	file, err := backup.Create(out.File)
	if err != nil {
		return err
	}
	defer file.Discard()
	secretFile, err := r.fetchState(ctx, file, &out)
	if err != nil {
		return err
	}
	if err := r.inspectCopy(ctx, file.Name(), &out); err != nil {
		return err
	}
	if err := r.copySecret(secretFile, &out); err != nil {
		return err
	}
	if err := file.Keep(); err != nil {
		return err
	}
	return r.print(out, func(w io.Writer) {
		row(w, fmt.Sprintf("Backed up %d records, %s, to %s and checked them.", out.Records, progress.Bytes(out.Bytes), out.File))
		row(w, out.note)
	})
}

// fetchState writes the snapshot of the running gateway to the disk.
func (r *run) fetchState(ctx context.Context, file *backup.NewFile, out *backedUp) (secretFile string, err error) {
	res, cancel, err := r.admin.Download(ctx, adminapi.Path("backup"))
	if err != nil {
		return "", err
	}
	defer cancel()
	defer func() { _ = res.Body.Close() }()
	bar := r.bar("Copying", progress.Bytes, res.ContentLength)
	out.Bytes, err = io.Copy(io.MultiWriter(file, barWriter{bar}), res.Body)
	bar.End()
	if err == nil && out.Bytes != res.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", fmt.Errorf("the state was not copied completely, and %s was not made: %w", out.File, err)
	}
	if err := file.Sync(); err != nil {
		return "", fmt.Errorf("%s was not made: %w", out.File, err)
	}
	return url.PathUnescape(res.Header.Get(adminapi.SecretFileHeader))
}

// inspectCopy opens the snapshot and reads all of it.
func (r *run) inspectCopy(ctx context.Context, name string, out *backedUp) error {
	source, err := fileSource()
	if err == nil {
		out.Contents, err = r.inspect(ctx, source, name)
	}
	if err != nil {
		return fmt.Errorf("the copy cannot be used, and %s was not made: %w", out.File, err)
	}
	return nil
}

// inspect opens a snapshot, which checks it, and counts its records.
func (r *run) inspect(ctx context.Context, source store.FileSource, name string) (*backup.Contents, error) {
	opened, err := source.OpenSnapshot(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }()
	bar := r.bar("Checking", progress.Count("records"), 0)
	defer bar.End()
	return backup.Inspect(ctx, opened, bar.Add)
}

// copySecret copies the gateway's own secret beside the backup, and checks that it belongs to it.
func (r *run) copySecret(from string, out *backedUp) error {
	to := out.File + secretSuffix
	if r.given("secret") {
		to = r.text("secret")
	}
	switch {
	case from == "":
		out.note = "The secret is not in it: it is the `secret` of the configuration, without which the backup cannot be used."
		return nil
	case r.yes("no-secret"):
		out.note = "The secret in " + from + " was not copied. Without it the backup cannot be used."
		return nil
	}
	value, err := readSecretFile(from)
	if err != nil {
		return fmt.Errorf("the secret cannot be copied, and without it a backup cannot be used: %w. Run the command where the gateway runs, as its user or as root; or copy the secret yourself and give --no-secret", err)
	}
	if err := out.CheckSecrets(value); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if have, err := readSecretFile(to); err == nil && string(have) == string(value) {
		out.Secret, out.note = to, "Its secret is in "+to+" already. Keep the two apart: whoever has both can sign tokens."
		return nil
	}
	file, err := backup.Create(to)
	if err == nil {
		defer file.Discard()
		_, err = file.Write(value)
	}
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = file.Keep()
	}
	if err != nil {
		return fmt.Errorf("the secret was not copied: %w", err)
	}
	out.Secret, out.note = to, "Its secret is in "+to+". Keep the two apart: whoever has both can sign tokens."
	return nil
}

// barWriter shows what is written as progress.
type barWriter struct{ bar *progress.Bar }

func (b barWriter) Write(p []byte) (int, error) {
	b.bar.Add(int64(len(p)))
	return len(p), nil
}

// fileSource is the store of which files are backed up, whatever the path in its configuration.
func fileSource() (store.FileSource, error) {
	info, err := caddy.GetModule("gatehouse.stores.bolt")
	if err != nil {
		return nil, errors.New("this program has no `store bolt`: use the one that runs the gateway")
	}
	source, ok := info.New().(store.FileSource)
	if !ok {
		return nil, errors.New("the module gatehouse.stores.bolt of this program keeps no file")
	}
	return source, nil
}

// maxSecretFile bounds the file of a secret, in bytes.
const maxSecretFile = 4096

// readSecretFile reads a secret as the store does: a newline at the end is no part of it.
func readSecretFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	value, err := io.ReadAll(io.LimitReader(file, maxSecretFile+1))
	if err != nil {
		return nil, err
	}
	for len(value) > 0 && (value[len(value)-1] == '\n' || value[len(value)-1] == '\r') {
		value = value[:len(value)-1]
	}
	if len(value) < store.MinSecretLength || len(value) > maxSecretFile {
		return nil, fmt.Errorf("%s has %d bytes, a secret has from %d to %d", name, len(value), store.MinSecretLength, maxSecretFile)
	}
	return value, nil
}

// isSameName reports whether two names are of one file, which need not exist.
func isSameName(a, b string) bool {
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	in, errIn := os.Stat(filepath.Dir(a))
	beside, errBeside := os.Stat(filepath.Dir(b))
	return errIn == nil && errBeside == nil && os.SameFile(in, beside)
}

func isAbsent(name string) bool {
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}
