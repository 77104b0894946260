//go:build race

package directorytest

import "time"

// noise is what two answers may differ by beside the hash. The race detector makes
// everything ten times as slow, the hash (20 ms) included.
const noise = 2 * time.Millisecond
