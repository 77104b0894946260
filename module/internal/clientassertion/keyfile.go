package clientassertion

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// maxKeyFile is the longest file that is read, in bytes. Longer sets are refused anyway.
const maxKeyFile = 32 << 10

// ReadKeys reads the file of a JWK set, for [ParseKeys]. Its errors do not name the file.
func ReadKeys(path string) (string, error) {
	f, err := os.Open(path)
	if pathErr := new(os.PathError); errors.As(err, &pathErr) {
		return "", pathErr.Err
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err == nil && len(raw) > maxKeyFile {
		err = fmt.Errorf("the file has more than %d bytes", maxKeyFile)
	}
	return string(raw), err
}
