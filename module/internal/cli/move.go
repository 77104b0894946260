package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/backup"
	"github.com/gatehouse/gatehouse/module/internal/cli/progress"
	"github.com/gatehouse/gatehouse/module/internal/move"
	"github.com/gatehouse/gatehouse/module/store"
)

func moveCommand() *cobra.Command {
	cmd := offlineCommand("move", "Copies the state of a stopped gateway from a file into Redis", `
Copies every record of `+"`store bolt`"+` that has not expired into a Redis, with its expiry, and then
compares them all. Sessions, grants, consents, users, clients, keys and revocations stay valid.
--config is the configuration of the stopped gateway. --to is the address of the Redis, written as for
`+"`store redis`"+`; a password in it must be a placeholder such as {env.REDIS_PASSWORD}. If the new store
needs more than an address (prefix, tls, replicas), give the new configuration by --to-config
instead; its `+"`secret`"+` is then checked too.

The Redis must not have any records under the prefix. If the command is interrupted, run it again:
it continues, and no gateway starts on that Redis before everything is copied. The state file is not
changed.

	$ systemctl stop gatehouse
	$ caddy gatehouse move --config /etc/gatehouse/Caddyfile --to redis://gate:{env.REDIS_PASSWORD}@10.0.0.5:6379/0`, nothing, moveState)
	cmd.Flags().String("to", "", "Address of the Redis, such as redis://10.0.0.5:6379/0")
	cmd.Flags().String("to-config", "", "New configuration, with store redis and secret, instead of --to")
	return cmd
}

// moved is what the command prints.
type moved struct {
	From string `json:"from"`
	To   string `json:"to"`
	*backup.Contents
	next []string
}

func moveState(r *run) error {
	ctx, stop := r.interruptible()
	defer stop()
	if r.given("to") == r.given("to-config") {
		return errors.New("expected either --to with the address of a Redis or --to-config with the new configuration")
	}
	old, err := r.loadStore(r.text("config"))
	if err != nil {
		return err
	}
	defer old.close()
	source, ok := old.Source.(store.FileSource)
	if !ok {
		return fmt.Errorf("%s: records are moved out of `store bolt`; name the configuration that has it with --config", old.file)
	}
	state, secretFile := source.Files()
	if isAbsent(state) {
		return fmt.Errorf("there is no state file %s: is --config the configuration of the gateway, and the environment that of its service?", state)
	}
	fresh, err := r.moveTarget()
	if err != nil {
		return err
	}
	defer fresh.close()
	from, err := source.OpenStopped(ctx)
	if err != nil {
		return fmt.Errorf("%w. Stop the gateway first", err)
	}
	defer func() { _ = from.Close() }()
	to, err := fresh.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	out := moved{From: state, To: fresh.file}
	if err := r.checkMovedSecret(ctx, from, old, fresh, secretFile, &out); err != nil {
		return err
	}
	if err := r.moveRecords(ctx, from, to, state, &out); err != nil {
		return err
	}
	return r.print(out, func(w io.Writer) {
		row(w, fmt.Sprintf("Moved %d records from %s to %s and compared them.", out.Records, out.From, out.To))
		for _, line := range out.next {
			row(w, line)
		}
		row(w, "The state file is as it was. Remove it once the gateway runs on the new store: a gateway that uses it would accept what has been revoked since.")
	})
}

// moveTarget finds the store to move to.
func (r *run) moveTarget() (*offlineStore, error) {
	if r.given("to-config") {
		fresh, err := r.loadStore(r.text("to-config"))
		if err != nil {
			return nil, err
		}
		if _, file := fresh.Source.(store.FileSource); file {
			fresh.close()
			return nil, fmt.Errorf("%s: its store is a file; expected `store redis`", fresh.file)
		}
		return fresh, nil
	}
	// The Caddyfile's own parser refuses a password that is not a placeholder: other processes see arguments.
	const id = "gatehouse.stores.redis"
	info, err := caddy.GetModule(id)
	if err != nil {
		return nil, errors.New("this program has no `store redis`: build it with the plugin plugins/store/redis")
	}
	module := info.New()
	words, ok := module.(caddyfile.Unmarshaler)
	if !ok {
		return nil, fmt.Errorf("the module %s cannot be configured by an address; use --to-config", id)
	}
	var tokens []caddyfile.Token
	// Nobody waits for an answer, so a Redis that is slow may take longer than for a gateway.
	for i, line := range [][]string{{"redis", r.text("to"), "{"}, {"timeout", "5s"}, {"}"}} {
		for _, text := range line {
			tokens = append(tokens, caddyfile.Token{File: "--to", Line: i + 1, Text: text})
		}
	}
	if err := words.UnmarshalCaddyfile(caddyfile.NewDispenser(tokens)); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(module)
	if err != nil {
		return nil, err
	}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	loaded, err := ctx.LoadModuleByID(id, raw)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("--to: %w", err)
	}
	source, ok := loaded.(store.Source)
	if !ok {
		cancel()
		return nil, fmt.Errorf("the module %s is no store", id)
	}
	return &offlineStore{source, nil, r.text("to"), cancel}, nil
}

// checkMovedSecret makes sure that whoever opens the new store can read the signing keys in it.
func (r *run) checkMovedSecret(ctx context.Context, from store.Backend, old, fresh *offlineStore, secretFile string, out *moved) error {
	records, ok := from.(store.Walker)
	if !ok {
		return errors.New("the store cannot go through its records")
	}
	bar := r.bar("Checking", progress.Count("records"), 0)
	var err error
	out.Contents, err = backup.Inspect(ctx, records, bar.Add)
	bar.End()
	if err != nil {
		return err
	}
	own := len(old.secrets) == 0
	secrets, where := old.secrets, "the `secret` of "+old.file
	if own && !isAbsent(secretFile) {
		value, err := readSecretFile(secretFile)
		if err != nil {
			return err
		}
		secrets, where = [][]byte{value}, secretFile
	}
	if len(secrets) > 0 {
		if err := out.CheckSecrets(secrets...); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	if !r.given("to-config") {
		out.next = append(out.next, "On every node, configure", "    store redis "+fresh.file)
		if own {
			out.next = append(out.next, "    secret {file."+secretFile+"}", "with that file copied to each, or its text as a secret of the environment.")
		} else {
			out.next = append(out.next, "and leave `secret` as it is.")
		}
		return nil
	}
	if err := out.CheckSecrets(fresh.secrets...); err != nil {
		return fmt.Errorf("the `secret` of %s: %w. Write the one in %s there, such as `secret {file.%s}`", fresh.file, err, where, secretFile)
	}
	return nil
}

func (r *run) moveRecords(ctx context.Context, from, to store.Backend, state string, out *moved) error {
	records, ok := from.(store.Walker)
	if !ok {
		return errors.New("the store cannot go through its records")
	}
	target, ok := to.(move.Target)
	if !ok {
		return errors.New("the new store cannot tell whether it is empty")
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	again, err := move.Begin(ctx, target, host+":"+state)
	switch {
	case errors.Is(err, move.ErrNotEmpty):
		return fmt.Errorf("%s: %w, so nothing was moved. If a gateway uses it, choose another `prefix` (--to-config); otherwise delete its keys", out.To, err)
	case err != nil:
		return fmt.Errorf("%s: %w", out.To, err)
	}
	if again && !r.json {
		fmt.Fprintln(r.cmd.ErrOrStderr(), "Continuing the move that was interrupted.")
	}
	for _, step := range []struct {
		label string
		do    func(context.Context, store.Walker, store.Backend, func(int64)) error
	}{{"Copying", move.Copy}, {"Comparing", move.Check}} {
		bar := r.bar(step.label, progress.Count("records"), int64(out.Records))
		err := step.do(ctx, records, to, bar.Add)
		bar.End()
		if err != nil {
			return fmt.Errorf("%w. %s is not complete, and no gateway starts on it; run the same command again", err, out.To)
		}
	}
	return move.End(ctx, to)
}
