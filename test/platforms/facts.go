package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine names the one on which the steps ran.
type machine struct {
	Platform string `json:"platform"`
	System   string `json:"system"`
	Build    string `json:"build"`
	Arch     string `json:"arch"`
	Commit   string `json:"commit"`
}

// asked are the commands that facts shows, by system. Their output decides nothing.
var asked = map[string][][]string{
	"darwin": {
		{"sw_vers"}, {"xcode-select", "-p"},
		{"ls", "-ld", "/private/var/db/xcode_select_link", "/System/Cryptexes/OS", "/System/Cryptexes/App", "/Applications/Xcode.app", "/private/tmp", "/opt/homebrew/var"},
		{"getconf", "DARWIN_USER_TEMP_DIR"}, {"csrutil", "status"},
	},
	"windows": {
		{"cmd", "/d", "/c", "ver"}, {"whoami", "/groups"}, {"icacls", `C:\`}, {"icacls", `C:\Users`},
		{"sc", "query", "MpsSvc"}, {"sc", "query", "BFE"}, {"where", "git", "node", "python", "go", "bash", "pwsh"},
	},
	"linux": {{"uname", "-a"}, {"cat", "/etc/os-release"}, {"cat", "/sys/kernel/security/lsm"}},
}

// facts writes facts.txt and machine.json.
func (w *work) facts([]string) error {
	f, err := os.Create(w.file("facts.txt"))
	if err != nil {
		return err
	}
	defer f.Close()
	for _, words := range append(asked[w.system], []string{"go", "run", "./cmd/accessc", "doctor"}) {
		said, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		text := fmt.Sprintf("$ %s\n%s", strings.Join(words, " "), said)
		if err != nil {
			text += fmt.Sprintf("(%v)\n", err)
		}
		fmt.Fprint(w.out, text)
		fmt.Fprint(f, text)
	}
	m, err := identify()
	if err != nil {
		return err
	}
	commit, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	m.Platform, m.Arch, m.Commit = w.system, runtime.GOARCH, strings.TrimSpace(string(commit))
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(w.file("machine.json"), append(data, '\n'), 0o644), f.Close())
}
