package cli

import (
	"context"
	"errors"
	"net/url"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/livewatch"
	"github.com/gatehouse/gatehouse/module/internal/watch"
)

func watchCommand() *cobra.Command {
	cmd := adminCommand("watch", "Shows the gateway's decisions as they are made", `
Prints a line for each request that a guard, a limit or the authorization server decides: time, client and user
(or the address), method and path, status and outcome with its reason, the limit and what is left of it, and the
latency. It never shows queries, tokens or header values. When it ends (Ctrl-C, --for, or the gateway stops) it prints
a summary: outcomes, latency (p50 and p99), and who and what was refused most often.

	$ caddy gatehouse watch --refused --path /articles --for 30s

A request is shown if it matches all filters. Outcomes are allowed (passed on), refused (by the gateway), and failed (allowed,
and answered with 5xx). No request waits for a watcher: decisions that come faster than they can be shown are dropped and
counted. Watching continues when the configuration is reloaded.`, nothing, watchGateway)
	cmd.Flags().String("client", "", "Only requests of the client with this id")
	cmd.Flags().String("user", "", "Only requests for the user with this id")
	cmd.Flags().String("path", "", "Only paths with this prefix")
	cmd.Flags().String("status", "", "Only these status codes and classes, such as 429 or 4xx,503")
	cmd.Flags().Bool("refused", false, "Only requests that the gateway refused")
	cmd.Flags().Duration("for", 0, "End after this time, such as 30s (default: never)")
	cmd.Flags().Bool("json", false, "Print one JSON object per line, the summary last; same as --format json")
	return cmd
}

func watchGateway(r *run) error {
	r.json = r.json || r.yes("json")
	if r.given("status") {
		if _, err := watch.ParseStatuses(r.text("status")); err != nil {
			return errors.New("--status: " + err.Error())
		}
	}
	limit, _ := r.cmd.Flags().GetDuration("for")
	if r.given("for") && limit <= 0 {
		return errors.New("--for: expected a time such as 30s")
	}
	query := make(url.Values)
	for _, name := range watch.Parameters {
		if r.given(name) {
			query.Set(name, r.cmd.Flags().Lookup(name).Value.String())
		}
	}
	ctx, stop := signal.NotifyContext(r.context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	shown := &livewatch.Printer{Out: r.cmd.OutOrStdout(), Notices: r.cmd.ErrOrStderr(), JSON: r.json, Address: r.admin.Address, Neutralize: printable}
	begun := time.Now()
	err := livewatch.Follow(ctx, r.admin, strings.TrimSuffix(adminapi.Path("watch")+"?"+query.Encode(), "?"), shown)
	if shown.Connected {
		shown.End(time.Since(begun))
	}
	return err
}
