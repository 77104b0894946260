package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

func compactCommand() *cobra.Command {
	return adminCommand("compact", "Shrinks the file of the Bolt store", `
Replaces the state file of `+"`store bolt`"+` with a copy that lacks the space left by deleted and
expired records. Meanwhile reads continue and writes wait, a few seconds for each gigabyte of
live data; the copy needs as much space on the same disk. The gateway does this by itself once
more than half of the file is free, unless more than 128 MiB of it are in use.`, nothing, func(r *run) error {
		var got adminapi.Compacted
		if err := r.call("POST", adminapi.Path("compact"), nil, &got); err != nil {
			return err
		}
		return r.print(got, func(w io.Writer) {
			fmt.Fprintf(w, "The state file had %d bytes in use, and has %d now.\n", got.Before, got.After)
		})
	})
}
