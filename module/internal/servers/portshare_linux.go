package servers

import (
	"bufio"
	"encoding/hex"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// foreignListeners are the sockets of other processes that listen where wanted says.
func foreignListeners(wanted func(netip.AddrPort) bool) []listening {
	var all []listening
	for _, file := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(file)
		if err != nil {
			continue // without IPv6 there is no such file
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			if l, ok := parseListener(s.Text()); ok && wanted(l.at) {
				all = append(all, l)
			}
		}
		_ = f.Close()
	}
	if len(all) == 0 {
		return nil
	}
	own := ownSockets()
	return slices.DeleteFunc(all, func(l listening) bool { return own == nil || own[l.inode] })
}

// parseListener reads a line of /proc/net/tcp, see proc_pid_net(5); ok is false for what does not listen.
func parseListener(line string) (l listening, ok bool) {
	const listens = "0A"
	fields := strings.Fields(line)
	if len(fields) < 10 || fields[3] != listens {
		return l, false
	}
	host, port, _ := strings.Cut(fields[1], ":")
	raw, err := hex.DecodeString(host)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil {
		return l, false
	}
	for i := 0; i+4 <= len(raw); i += 4 { // words in the byte order of the machine
		slices.Reverse(raw[i : i+4])
	}
	addr, ok := netip.AddrFromSlice(raw)
	return listening{netip.AddrPortFrom(addr, uint16(n)), fields[9]}, ok
}

// ownSockets are the inodes of this process's sockets, nil when they cannot be read.
func ownSockets() map[string]bool {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	own := make(map[string]bool)
	for _, e := range entries {
		if to, err := os.Readlink(dir + "/" + e.Name()); err == nil {
			if inode, ok := strings.CutPrefix(to, "socket:["); ok {
				own[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	return own
}
