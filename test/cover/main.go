// Command cover runs tests and prints which share of the product's statements they reach on this
// system, in the test binaries and in every process that these start of themselves: loaders,
// supervisors and the commands of scripts. It needs Linux; docs/testing.md has the figures.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const module = "github.com/accessc/accessc"

// product are the directories of the packages that the program or a public package consists of.
var product = []string{"backends", "cmd", "compiler", "internal", "ir", "tool"}

func main() {
	least := flag.Float64("least", 90, "fail below this percentage")
	show := flag.String("show", "", "list the statements of this package that no test reaches")
	old := flag.Bool("again", false, "print the figures of the last run again")
	flag.Parse()
	if err := run(*least, *show, *old, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "cover:", err)
		os.Exit(1)
	}
}

func run(least float64, show string, again bool, args []string) error {
	work, err := filepath.Abs(".cache/cover")
	if err != nil {
		return err
	}
	profile := filepath.Join(work, "profile")
	var failed error
	if !again {
		failed = test(work, profile, args)
	}
	blocks, err := read(profile)
	if err != nil {
		return errors.Join(failed, err)
	}
	if show != "" {
		blocks.missed(os.Stdout, module+"/"+show)
		return nil
	}
	total := blocks.table(os.Stdout)
	if failed == nil && total < least {
		return fmt.Errorf("%.1f %% of the statements, expected %.1f %%", total, least)
	}
	return failed
}

// test runs the tests with shared counters. Arguments are those of go test.
func test(work, profile string, args []string) error {
	if len(args) == 0 {
		args = []string{"./..."}
	}
	files := filepath.Join(work, "counters")
	if err := empty(files); err != nil {
		return err
	}
	overlay, err := writeOverlay(work)
	if err != nil {
		return err
	}
	var dirs []string
	for _, dir := range product {
		dirs = append(dirs, "./"+dir+"/...")
	}
	packages, err := list("{{.ImportPath}}", dirs...)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", append([]string{
		"test", "-vet=off", "-covermode=set", "-coverpkg=" + strings.Join(packages, ","), "-coverprofile=" + profile, "-overlay=" + overlay,
		"-ldflags=-checklinkname=0 -X " + module + "/" + place + ".dir=" + files,
	}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// empty makes an empty directory that every user can write to.
func empty(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.Chmod(dir, 0o777)
}

// place is where the build finds package shared. Go initialises packages in the order of their
// paths, and this one sorts before cmd/accessc/early, which starts tools while it is initialised.
const place = "cmd/accessc/counters"

// writeOverlay writes an overlay for the go command in which every package with tests has one
// more test file, which imports package shared.
func writeOverlay(work string) (string, error) {
	packages, err := list("{{.Dir}}|{{.Name}}|{{len .TestGoFiles}}|{{len .XTestGoFiles}}", "./...")
	if err != nil {
		return "", err
	}
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	replace := map[string]string{filepath.Join(root, place, "shared.go"): filepath.Join(root, "test/cover/shared/shared_linux.go")}
	for _, p := range packages {
		f := strings.Split(p, "|")
		dir, name := f[0], f[1]
		switch {
		case f[2] == "0" && f[3] == "0":
			continue
		case f[2] == "0":
			name += "_test"
		}
		source := filepath.Join(work, name+".go")
		if err := os.WriteFile(source, []byte("package "+name+"\n\nimport _ \""+module+"/"+place+"\"\n"), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(dir, "zz_shared_test.go")] = source
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(work, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o644)
}

// list asks the go command about packages.
func list(format string, patterns ...string) ([]string, error) {
	cmd := exec.Command("go", append([]string{"list", "-f", format}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.Fields(string(out)), err
}
