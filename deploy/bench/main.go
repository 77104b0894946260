package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	caddy       string
	rotations   int
	slice       time.Duration
	connections int
	live        int
	only        *regexp.Regexp
	port        int
	out         string
	profile     time.Duration
}

func main() {
	o, err := parseOptions(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err = run(ctx, o)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parseOptions(args []string) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := f.String("only", "", "measure only rows whose name matches this regular expression")
	f.StringVar(&o.caddy, "caddy", "./caddy", "Caddy with Gatehouse")
	f.IntVar(&o.rotations, "rotations", 6, "how often each row is measured")
	f.DurationVar(&o.slice, "slice", 2500*time.Millisecond, "for how long")
	f.IntVar(&o.connections, "connections", 64, "connections over HTTP/1.1")
	f.IntVar(&o.live, "live", 100_000, "live tokens where there are many")
	f.IntVar(&o.port, "port", 20_000, "the first of some sixty ports that are used")
	f.StringVar(&o.out, "out", ".build/bench", "the folder for results.json, chart.svg, profiles and logs")
	f.DurationVar(&o.profile, "profile", 0, "write a CPU profile of each row, of this length")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected %q", f.Args())
	case o.rotations < 1 || o.slice <= 0 || o.connections < 1 || o.live < clients:
		return o, fmt.Errorf("-rotations and -connections must be at least 1, -live at least %d, -slice positive", clients)
	}
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	if o.caddy, err = filepath.Abs(o.caddy); err == nil {
		o.out, err = filepath.Abs(o.out)
	}
	return o, err
}

// run measures everything and writes the report.
func run(ctx context.Context, o options) error {
	if _, err := os.Stat(o.caddy); err != nil {
		return fmt.Errorf("%w: build it with ./xcaddy.sh, or name it with -caddy", err)
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.close()
	groups, leftOut, err := b.prepare(ctx)
	if err != nil {
		return err
	}
	var failed error // what was measured until then is reported
	for n := 0; n <= o.rotations && failed == nil; n++ {
		if failed = b.rotate(ctx, groups, n-1); failed != nil && n < 2 { // the first one warms up
			return failed
		}
	}
	r := b.report(groups, leftOut)
	r.Command = strings.Join(append([]string{"./xcaddy.sh bench"}, os.Args[1:]...), " ")
	fmt.Print(r.table())
	if err := errors.Join(failed, r.write(o.out)); err != nil || o.profile < time.Second {
		return err
	}
	return b.writeProfiles(ctx, groups)
}
