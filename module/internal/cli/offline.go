package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/cli/progress"
	"github.com/gatehouse/gatehouse/module/store"
)

// offlineCommand is a command that works on the store of a gateway that does not run.
func offlineCommand(use, short, long string, args cobra.PositionalArgs, do func(*run) error) *cobra.Command {
	cmd := newCommand(use, short, long, args, do)
	cmd.Flags().StringP("config", "c", "", "Configuration file of the gateway (default ./Caddyfile)")
	cmd.Flags().StringP("adapter", "a", "", "Name of config adapter to apply")
	return cmd
}

// offlineStore is the store of a configuration file.
type offlineStore struct {
	store.Source
	secrets [][]byte // the configured ones
	file    string   // the configuration's
	close   func()
}

// loadStore finds the store of a configuration file, "" for the one that `caddy run` would load. The caller MUST call
// close.
func (r *run) loadStore(file string) (*offlineStore, error) {
	text, found, _, err := caddycmd.LoadConfig(file, r.text("adapter"))
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, errors.New("there is no Caddyfile here: name the gateway's configuration with --config")
	}
	config, err := explain.ReadConfiguration(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", found, err)
	}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	source, secrets, err := config.App.OfflineStore(ctx)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%s: %w", found, err)
	}
	return &offlineStore{source, secrets, found, cancel}, nil
}

// interruptible is the context of work that leaves nothing half done when it is interrupted.
func (r *run) interruptible() (context.Context, func()) {
	return signal.NotifyContext(r.context(), os.Interrupt, syscall.SIGTERM)
}

// bar shows the progress of a step on standard error, except beside JSON.
func (r *run) bar(label string, unit progress.Unit, total int64) *progress.Bar {
	if r.json {
		return nil
	}
	return progress.New(os.Stderr, label, unit, total)
}
