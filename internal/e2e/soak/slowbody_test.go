package soak

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Clients that send their bodies a byte every few seconds lose their connections ten
// seconds after the first byte, however many they are (N04, E13), and others are answered
// meanwhile.
func TestSlowBodiesAreGivenUp(t *testing.T) { // N04
	collectOften(t)
	const most = 15 * time.Second
	s := newSite(t)
	p := s.Run(t, s.config())
	host := strings.TrimPrefix(s.ID, "http://")
	address := strings.Replace(host, "localhost", "127.0.0.1", 1)
	client := arrivals{Address: address, Rate: 100, Request: rawRequest("POST", "/token", host, "grant_type=client_credentials&scope=read",
		"Authorization: Basic bWFjaGluZTptYWNoaW5lLXNlY3JldC0wMTIzNDU2Nzg5LTAxMjM0NTY3ODktMDEyMzQ1")}
	client.begin(t)
	time.Sleep(time.Duration(times(1, 10)) * time.Second)
	quiet := client.end(t)

	n := times(300, 3000)
	before, peak := residentMemory(t, p.PID()), make(chan int64, 1)
	client.begin(t)
	lives := make([]time.Duration, n)
	var wg sync.WaitGroup
	for i := range n {
		path := []string{"/token", "/login", "/register"}[i%3]
		wg.Go(func() {
			lives[i] = dribble(t, address, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\n", path, host), most)
		})
	}
	go func() {
		time.Sleep(5 * time.Second) // all are there
		peak <- residentMemory(t, p.PID())
	}()
	wg.Wait()
	busy := client.end(t)
	slices.Sort(lives)
	t.Logf("%d connections lived for %v to %v; /token p99 %v quiet, %v meanwhile; resident %d MiB before, %d MiB with them, %d MiB after", n,
		lives[0].Round(time.Millisecond), lives[n-1].Round(time.Millisecond), answersWithin(quiet, 99), answersWithin(busy, 99),
		before>>20, <-peak>>20, residentMemory(t, p.PID())>>20)
	if lives[n-1] >= most {
		t.Errorf("a connection lives for %v", lives[n-1])
	}
}

// dribble sends a byte of a body every four seconds, and returns how long the connection
// lived, or most if it lived longer.
func dribble(t *testing.T, address, head string, most time.Duration) time.Duration {
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() { _ = c.Close() }()
	begun := time.Now()
	if _, err := io.WriteString(c, head); err != nil {
		t.Error(err)
		return 0
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = c.SetReadDeadline(begun.Add(most))
		_, _ = io.Copy(io.Discard, c)
	}()
	for {
		_, _ = c.Write([]byte("a")) // an error shows in what is read
		select {
		case <-gone:
			return min(time.Since(begun), most)
		case <-time.After(4 * time.Second):
		}
	}
}
