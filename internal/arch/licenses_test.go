package arch

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoticeNamesModulesWithLicenseConditions reads the licenses of all modules in the binary: those under the Mozilla Public
// License are named in NOTICE, and none is under a license that would bind the whole program.
func TestNoticeNamesModulesWithLicenseConditions(t *testing.T) {
	notice, err := os.ReadFile(filepath.Join(root(t), "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for path, dir := range modulesOfProduct(t) {
		files, _ := filepath.Glob(filepath.Join(dir, "[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // a folder of licenses
			}
			read++
			switch head := strings.ToLower(string(text[:min(len(text), 400)])); {
			case strings.Contains(head, "gnu "):
				t.Errorf("%s is under a license of GNU: %s", path, file)
			case strings.Contains(head, "mozilla public license") && !bytes.Contains(notice, []byte("\n  "+path+" ")):
				t.Errorf("%s is under the Mozilla Public License, and NOTICE does not name it", path)
			}
		}
	}
	if read < 50 {
		t.Errorf("only %d licenses were found", read)
	}
}

// modulesOfProduct returns the folder of each module that the product is linked with.
func modulesOfProduct(t *testing.T) map[string]string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Module", "./module")
	list.Dir = root(t)
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := make(map[string]string)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ Module *struct{ Path, Dir string } }
		if err := d.Decode(&p); err == io.EOF {
			return modules
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module != nil {
			modules[p.Module.Path] = p.Module.Dir
		}
	}
}
