package redisconn

import (
	"context"
	"errors"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// faults are the prefixes of replies from a Redis that cannot serve now, although the command is
// well-formed.
var faults = []string{
	"READONLY", "LOADING", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "NOREPLICAS", "OOM", "MISCONF", "BUSY", "UNKILLABLE",
	"NOAUTH", "WRONGPASS", "NOPERM", "MOVED", "ASK", "ERR max number of clients", "ERR Client sent AUTH",
}

// unavailable reports whether err means that Redis cannot serve, as opposed to a reply, a wrong
// command, or a caller that went away.
func unavailable(err error) bool {
	switch {
	case err == nil, errors.Is(err, goredis.Nil), errors.Is(err, context.Canceled):
		return false
	}
	reply, answered := errors.AsType[goredis.Error](err)
	return !answered || isRefused(reply.Error())
}

// Unapplied reports whether err is a reply that says that the command changed nothing. Every
// other fault leaves that open.
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
	// Scripts of an older Redis wrap the replies to their commands.
	return strings.Contains(text, "-READONLY ") || strings.Contains(text, "-OOM ")
}
