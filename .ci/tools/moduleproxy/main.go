// Command moduleproxy runs a command with a Go module proxy on loopback that serves a checkout as
// a version of its module:
//
//	moduleproxy -checkout ~/gatehouse xcaddy build --with github.com/gatehouse/gatehouse/module
//
// So xcaddy builds a working copy by the same line, and in the same way, as it builds a release.
// All other modules come from the proxies that GOPROXY names; `direct` in GOPROXY is only used if
// it names no proxy. https://go.dev/ref/mod#goproxy-protocol describes what a proxy answers.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("moduleproxy: ")
	dir := flag.String("checkout", ".", "the folder of the module to serve")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: moduleproxy [-checkout DIR] COMMAND [ARGUMENT ...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	status, err := run(*dir, flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(status)
}

// run serves the checkout in dir while the command runs, and returns the command's exit status.
func run(dir string, command []string) (int, error) {
	own, err := openCheckout(dir)
	if err != nil {
		return 0, err
	}
	configured, err := goEnv("GOPROXY")
	if err != nil {
		return 0, err
	}
	noSum, err := goEnv("GONOSUMDB")
	if err != nil {
		return 0, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	proxies := upstreams(configured)
	server := &http.Server{Handler: &proxy{own: own, upstreams: proxies}}
	go server.Serve(ln)
	defer server.Close()

	goproxy := "http://" + ln.Addr().String()
	if len(proxies) == 0 {
		goproxy += "," + configured
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(),
		"GOPROXY="+goproxy,
		// The checksum database knows releases only.
		"GONOSUMDB="+strings.TrimPrefix(noSum+","+own.path, ","))
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return "", fmt.Errorf("go env %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}
