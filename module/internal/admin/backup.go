package admin

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/store"
)

// download is a success whose body is a snapshot.
type download struct {
	*store.Snapshot
	ownSecret bool
}

// downloadStep is how many bytes must be taken within downloadPatience: a caller that stops reading must not keep the
// copy, which has the size of the state, on the disk for ever.
const (
	downloadStep     = 1 << 20
	downloadPatience = time.Minute
)

func backUpStore(c *call) (any, error) {
	backend, err := c.OpenStore(c.r.Context())
	if err != nil {
		return nil, err
	}
	file, ok := backend.(store.Snapshotter)
	if !ok {
		return nil, Refuse(http.StatusConflict, "conflict", "the store has no file to back up; `store bolt` has. Back up Redis with its own tools")
	}
	copied, err := file.Snapshot(c.r.Context())
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return nil, Refuse(http.StatusInsufficientStorage, "no_space",
			"the disk of the state file is full: for a backup it needs as much free space as `caddy gatehouse compact` reports as in use")
	}
	if err != nil {
		return nil, err
	}
	return &download{copied, c.OwnSecret}, nil
}

// write sends the snapshot. One that cannot be sent whole is cut off, which the length in the header shows.
func (d *download) write(w http.ResponseWriter) {
	defer func() { _ = d.Close() }()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.FormatInt(d.Size, 10))
	if d.ownSecret {
		h.Set(adminapi.SecretFileHeader, url.PathEscape(d.SecretFile))
	}
	deadline := http.NewResponseController(w)
	for {
		_ = deadline.SetWriteDeadline(time.Now().Add(downloadPatience))
		if _, err := io.CopyN(w, d, downloadStep); err != nil {
			_ = deadline.SetWriteDeadline(time.Time{}) // it would stay with the connection
			return
		}
	}
}
