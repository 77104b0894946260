package main

import (
	"net"
	"strings"
	"testing"
)

func TestPortInUseIsRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := ports{next: l.Addr().(*net.TCPAddr).Port}
	if got, err := p.claim(); err == nil || !strings.Contains(err.Error(), "choose others with -port") {
		t.Errorf("%s, %v", got, err)
	}
	address := l.Addr().String()
	_ = l.Close()
	p.next--
	if got, err := p.claim(); err != nil || got != address {
		t.Errorf("%s, %v; expected %s, which is free now", got, err, address)
	}
}
