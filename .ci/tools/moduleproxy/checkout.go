package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// A checkout is the working copy of a module: the files that git tracks or would track, as they
// are on disk. Without a repository, as in a container or an archive, it is all files that are not
// hidden.
type checkout struct {
	dir   string
	path  string // of the module
	gomod []byte

	// pack makes the version and the module's zip file, when the first of them is asked for.
	pack func() (packed, error)
}

type packed struct {
	// version differs for different content: Go's module cache never looks at a version twice.
	version string
	zip     []byte
}

func openCheckout(dir string) (*checkout, error) {
	gomod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	c := &checkout{dir: dir, path: modfile.ModulePath(gomod), gomod: gomod}
	if c.path == "" {
		return nil, fmt.Errorf("%s/go.mod names no module", dir)
	}
	c.pack = sync.OnceValues(c.packFiles)
	return c, nil
}

func (c *checkout) packFiles() (packed, error) {
	list := listVisible
	if inRepository(c.dir) {
		list = listTracked
	}
	names, err := list(c.dir)
	if err != nil {
		return packed{}, fmt.Errorf("listing the files of the checkout: %w", err)
	}
	var files []zip.File
	for _, name := range names {
		f := file{dir: c.dir, name: name}
		if _, err := f.Lstat(); err == nil { // a deleted file is still tracked
			files = append(files, f)
		}
	}
	// The version stands in the zip file, and is made from it.
	content, err := c.zipAs("v0.1.0-dev", files)
	if err != nil {
		return packed{}, err
	}
	version := fmt.Sprintf("v0.1.0-dev.h%x", sha256.Sum256(content))[:len("v0.1.0-dev.h")+12]
	content, err = c.zipAs(version, files)
	return packed{version: version, zip: content}, err
}

// inRepository reports whether a folder is in a working copy of git.
func inRepository(dir string) bool {
	dir, err := filepath.Abs(dir)
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
	return false
}

// listTracked lists the files that git tracks or would track.
func listTracked(dir string) ([]string, error) {
	out, err := exec.Command("git", "-C", dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("git: %w", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// listVisible lists the files that are neither hidden nor in a hidden folder.
func listVisible(dir string) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case entry.Type().IsRegular():
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

func (c *checkout) zipAs(version string, files []zip.File) ([]byte, error) {
	var buf bytes.Buffer
	err := zip.Create(&buf, module.Version{Path: c.path, Version: version}, files)
	return buf.Bytes(), err
}

// A file of the checkout; it implements zip.File.
type file struct{ dir, name string }

func (f file) Path() string                 { return f.name }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(f.dir, f.name)) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.dir, f.name)) }
