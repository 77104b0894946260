package redistest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxRequest is the largest part of a request that the proxy reads. Tests stay far below it.
const maxRequest = 64 << 20

// readRequest reads one request of the Redis protocol. It returns its bytes, and the name of the command in capitals.
func readRequest(from *bufio.Reader) (raw []byte, command string, err error) {
	line, err := from.ReadBytes('\n')
	if err != nil {
		return line, "", err
	}
	raw = line
	if line[0] != '*' { // a request as one types it
		if words := strings.Fields(string(line)); len(words) > 0 {
			command = strings.ToUpper(words[0])
		}
		return raw, command, nil
	}
	parts, err := parseCount(line)
	if err != nil {
		return raw, "", err
	}
	for i := range parts {
		if line, err = from.ReadBytes('\n'); err != nil {
			return raw, command, err
		}
		raw = append(raw, line...)
		size, err := parseCount(line)
		if err != nil {
			return raw, command, err
		}
		part := make([]byte, size+2)
		if _, err := io.ReadFull(from, part); err != nil {
			return raw, command, err
		}
		raw = append(raw, part...)
		if i == 0 {
			command = strings.ToUpper(string(part[:size]))
		}
	}
	return raw, command, nil
}

// parseCount reads the number in a line such as *3 or $11.
func parseCount(line []byte) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(string(line[1:])))
	if err != nil || n < 0 || n > maxRequest {
		return 0, fmt.Errorf("no request of Redis: %.40q", line)
	}
	return n, nil
}
