//go:build !race

package directorytest

import "time"

// noise is what two answers may differ by beside the hash: a directory elsewhere reads a
// longer answer, or one that is empty.
const noise = 200 * time.Microsecond
