//go:build !(darwin || freebsd || linux || netbsd)

package file

import (
	"io/fs"
	"time"
)

// changeTime is not known here. On Windows a file has one, but os.Stat does not return it.
func changeTime(fs.FileInfo) (t time.Time, ok bool) { return time.Time{}, false }
