// Package typedpassword reads a password from a terminal or from a pipe.
package typedpassword

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/gatehouse/gatehouse/module/directory"
)

// Read reads a password with which somebody could sign in.
func Read(in *os.File, prompt io.Writer) (string, error) {
	password, err := readLine(in, prompt)
	switch {
	case err != nil:
		return "", err
	case password == "":
		return "", errors.New("expected a password on standard input, got nothing")
	case len(password) > directory.MaxPassword:
		return "", fmt.Errorf("the password has more than %d bytes", directory.MaxPassword)
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return "", errors.New("the password must be valid UTF-8 without a NUL character")
	}
	return password, nil
}

// readLine reads one line, or asks for it twice on a terminal, without showing it.
func readLine(in *os.File, prompt io.Writer) (string, error) {
	if !term.IsTerminal(int(in.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(in, directory.MaxPassword+3)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var typed [2]string
	for i, label := range []string{"Password: ", "Again: "} {
		fmt.Fprint(prompt, label)
		b, err := term.ReadPassword(int(in.Fd()))
		fmt.Fprintln(prompt)
		if err != nil {
			return "", err
		}
		typed[i] = string(b)
	}
	if typed[0] != typed[1] {
		return "", errors.New("the two passwords differ")
	}
	return typed[0], nil
}
