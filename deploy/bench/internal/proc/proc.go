// Package proc reads what a process has used from /proc: CPU time and memory.
package proc

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc, the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// CPU is the time, in user and system mode, that a process has used.
func CPU(pid int) (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStat(string(raw))
}

// Resident is the memory, in bytes, that a process has in RAM.
func Resident(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return parseResident(string(raw))
}

// parseStat reads fields 14 and 15 of /proc/PID/stat, utime and stime. The name of the
// program, field 2, is in parentheses and may contain spaces and parentheses.
func parseStat(raw string) (time.Duration, error) {
	fields := strings.Fields(raw[strings.LastIndexByte(raw, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("stat: expected 15 fields or more: %q", raw)
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("stat: utime: %w", err)
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("stat: stime: %w", err)
	}
	return time.Duration(user+system) * tick, nil
}

// parseResident reads VmRSS of /proc/PID/status.
func parseResident(raw string) (int64, error) {
	for line := range strings.Lines(raw) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("status: no VmRSS")
}
