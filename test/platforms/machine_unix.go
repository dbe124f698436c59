//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// identify asks the system for its release and build.
func identify() (machine, error) {
	name, release, build := "macOS ", []string{"sw_vers", "-productVersion"}, []string{"sw_vers", "-buildVersion"}
	if runtime.GOOS != "darwin" {
		name, release, build = "Linux ", []string{"uname", "-r"}, []string{"uname", "-m"}
	}
	var out [2]string
	for i, words := range [][]string{release, build} {
		said, err := exec.Command(words[0], words[1:]...).Output()
		if err != nil {
			return machine{}, fmt.Errorf("%s: %w", strings.Join(words, " "), err)
		}
		out[i] = strings.TrimSpace(string(said))
	}
	return machine{System: name + out[0], Build: out[1]}, nil
}
