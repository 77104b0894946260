package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Tuning sets timeouts and the number of connections.
type Tuning struct {
	// Dial bounds connecting and the TLS handshake. Required.
	Dial time.Duration
	// Timeout bounds each read and each write. Required.
	Timeout time.Duration
	// Connections is the maximum number of connections to each server. 0: 10 for each processor.
	Connections int
	// onConnect is called for each new connection unless it is nil.
	onConnect func()
}

const keepAlive = 15 * time.Second

// Open returns a client. It does not connect: the first command does. Nothing is retried, since
// a write whose reply was lost may have taken effect; run scripts with [Script.Run], which still
// follows a cluster's redirections.
func (s Settings) Open(t Tuning) (goredis.UniversalClient, error) {
	if t.Dial <= 0 || t.Timeout <= 0 || s.nodes == "" {
		return nil, errors.New("redis: the timeouts and an address are required")
	}
	config, err := s.tlsConfig()
	if err != nil {
		return nil, err
	}
	bridgeLog()
	o := &goredis.UniversalOptions{
		Addrs:                    strings.Split(s.nodes, ","),
		MasterName:               s.master,
		DB:                       s.db,
		IsClusterMode:            s.mode == cluster,
		Username:                 s.username,
		Password:                 revealText(s.password),
		SentinelUsername:         s.sentinelUsername,
		SentinelPassword:         revealText(s.sentinelPassword),
		Dialer:                   newDialer(s.network, config, t),
		Protocol:                 2, // sufficient for pub/sub and scripts, and supported by every proxy
		MaxRetries:               -1,
		MaxRedirects:             3,
		MinRetryBackoff:          time.Millisecond,
		MaxRetryBackoff:          20 * time.Millisecond,
		DialTimeout:              t.Dial,
		DialerRetries:            1,
		DialerRetryTimeout:       time.Millisecond,
		ReadTimeout:              t.Timeout,
		WriteTimeout:             t.Timeout,
		PoolTimeout:              t.Timeout,
		ContextTimeoutEnabled:    true,
		PoolSize:                 t.Connections,
		PipelinePoolSize:         -1,
		ConnMaxIdleTime:          5 * time.Minute,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	return goredis.NewUniversalClient(o), nil
}

// newDialer also bounds the TLS handshake, which go-redis leaves to the next timeout.
func newDialer(n *Network, config *tls.Config, t Tuning) func(ctx context.Context, network, address string) (net.Conn, error) {
	plain := &net.Dialer{Timeout: t.Dial, KeepAlive: keepAlive}
	dial := plain.DialContext
	switch {
	case n != nil:
		dial = n.Dial
	case config != nil:
		dial = (&tls.Dialer{NetDialer: plain, Config: config}).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, t.Dial)
		defer cancel()
		conn, err := dial(ctx, network, address)
		if err == nil && t.onConnect != nil {
			t.onConnect()
		}
		return conn, err
	}
}
