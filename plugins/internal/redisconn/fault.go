package redisconn

import (
	"context"
	"errors"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// faults are the replies of a Redis that cannot serve now, though the command is well
// formed: by what they begin with.
var faults = []string{
	"READONLY", "LOADING", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "NOREPLICAS", "OOM", "MISCONF", "BUSY", "UNKILLABLE",
	"NOAUTH", "WRONGPASS", "NOPERM", "MOVED", "ASK", "ERR max number of clients", "ERR Client sent AUTH",
}

// Unavailable reports whether err means that Redis does not serve, as opposed to an
// answer, a command that is wrong, or a caller that went away.
func Unavailable(err error) bool {
	switch {
	case err == nil, errors.Is(err, goredis.Nil), errors.Is(err, context.Canceled):
		return false
	}
	reply, answered := errors.AsType[goredis.Error](err)
	return !answered || isRefused(reply.Error())
}

// Unapplied reports whether err is a reply that says that the command changed nothing.
// Every other fault leaves open whether it did.
func Unapplied(err error) bool {
	reply, answered := errors.AsType[goredis.Error](err)
	return answered && isRefused(reply.Error())
}

func isRefused(text string) bool {
	for _, p := range faults {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	// A script of an older Redis wraps what its commands were told.
	return strings.Contains(text, "-READONLY ") || strings.Contains(text, "-OOM ")
}
