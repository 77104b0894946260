package accesslog

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// This file repeats decisions of Caddy's HTTP server about the log line of a request that Caddy
// does not export. TestLinesAreThoseOfCaddy runs both side by side, to notice changes in Caddy.

// loggersFor corresponds to Server.shouldLogRequest and ServerLogConfig.wrapLogger.
func (l *Log) loggersFor(r *http.Request, c *caddyhttp.ServerLogConfig) []*zap.Logger {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	if !logsHost(host, c) {
		return nil
	}
	names := []string{c.DefaultLoggerName}
	if chosen, ok := caddyhttp.GetVar(r.Context(), caddyhttp.AccessLoggerNameVarKey).([]any); ok {
		names = nil
		for _, name := range chosen {
			if name, ok := name.(string); ok {
				names = append(names, name)
			}
		}
	} else if mapped, ok := loggersOfHost(host, c); ok {
		names = mapped
	}
	var loggers []*zap.Logger
	for _, name := range names {
		loggers = append(loggers, l.logger.Named(name))
	}
	return loggers
}

func logsHost(host string, c *caddyhttp.ServerLogConfig) bool {
	for name := range c.LoggerNames {
		if certmagic.MatchWildcard(host, name) {
			return true
		}
	}
	for _, skipped := range c.SkipHosts {
		if certmagic.MatchWildcard(host, skipped) {
			return false
		}
	}
	return !c.SkipUnmappedHosts
}

// loggersOfHost looks for the host, then for wildcards that replace more and more of its labels.
func loggersOfHost(host string, c *caddyhttp.ServerLogConfig) ([]string, bool) {
	host = strings.ToLower(host)
	if names, ok := c.LoggerNames[host]; ok {
		return names, true
	}
	labels := strings.Split(host, ".")
	for i := range labels {
		if labels[i] == "" {
			continue
		}
		labels[i] = "*"
		if names, ok := c.LoggerNames[strings.Join(labels, ".")]; ok {
			return names, true
		}
	}
	return nil, false
}

// messageOf returns the message of the line, which says whether a handler responded. Caddy's
// handler at the end of a chain sets the variable.
func messageOf(r *http.Request) string {
	if unhandled, ok := caddyhttp.GetVar(r.Context(), "unhandled").(bool); ok && unhandled {
		return "NOP"
	}
	return "handled request"
}

func levelOf(r *http.Request, status int) zapcore.Level {
	if name, ok := caddyhttp.GetVar(r.Context(), caddyhttp.LogLevelVar).(string); ok {
		if level, err := zapcore.ParseLevel(name); err == nil && level >= zapcore.DebugLevel && level <= zapcore.ErrorLevel {
			return level
		}
	}
	if status >= http.StatusInternalServerError {
		return zapcore.ErrorLevel
	}
	return zapcore.InfoLevel
}

// flushAfterTimeout returns the error of a response that could not be written because the
// server's write timeout had expired. net/http buffers small responses and reports it only when
// they are flushed.
func flushAfterTimeout(w http.ResponseWriter, r *http.Request) error {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server.WriteTimeout <= 0 || r.ProtoMajor != 1 || elapsed(r) < time.Duration(server.WriteTimeout) {
		return nil
	}
	err := http.NewResponseController(w).Flush()
	if errors.Is(err, http.ErrHijacked) || errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// elapsed is the time since Caddy received a request.
func elapsed(r *http.Request) time.Duration {
	began, _ := caddyhttp.GetVar(r.Context(), "start_time").(time.Time)
	return time.Since(began)
}
