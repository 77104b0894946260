package bytesize

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// units of a number of bytes, in lower case.
var units = map[string]int64{"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 1e3, "mb": 1e6, "gb": 1e9}

var form = regexp.MustCompile(`^([0-9]{1,15})([A-Za-z]*)$`)

// Parse reads a number of bytes above 0, such as 1048576, 512KiB, 256MiB or 2GB.
func Parse(text string) (bytes int64, ok bool) {
	m := form.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	unit := units[strings.ToLower(m[2])]
	if err != nil || n == 0 || unit == 0 || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}
