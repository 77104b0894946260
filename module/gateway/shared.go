package gateway

import (
	"log/slog"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap/exp/zapslog"

	"github.com/gatehouse/gatehouse/module/internal/admission"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
)

// The pools of what configurations share. A key holds everything its value was made
// from, so that a value is never used under a configuration it does not fit.
var (
	cores       = caddy.NewUsagePool() // core.Core by its key
	stores      = caddy.NewUsagePool() // lazy.Store by the store's identity
	directories = caddy.NewUsagePool() // lazy.Directory by the directory's identity
	books       = caddy.NewUsagePool() // one tally of failed attempts for the process
	shedders    = caddy.NewUsagePool() // one admission.Shedder for the process
	limiters    = caddy.NewUsagePool() // lazy.Limiter by the limiter's identity
)

// maxAttemptKeys bounds the memory for counting attempts, about 200 bytes for each key: it
// is the most of one kind, of which there are seven (users, addresses, clients, ...).
const maxAttemptKeys = 50_000

// logger is for what outlives a configuration, whose own logger ends with it.
func logger(name string) *slog.Logger {
	return slog.New(zapslog.NewHandler(caddy.Log().Core(), zapslog.WithName("gatehouse."+name)))
}

func newShedder() (*admission.Shedder, error) { return admission.NewShedder(logger("overload")), nil }

func newBook() (*lockout.Book, error) { return lockout.NewBook(maxAttemptKeys, time.Now), nil }
