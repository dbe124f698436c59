// Command wine runs the tests of the Windows loader under Wine and prints their assertions.
//
//	go run ./test/wine
//
// Wine applies jobs, handles, environments, groups and deleted privileges, and accepts limits,
// integrity levels, access lists and AppContainers without applying them
// (docs/platforms/windows.md). So the tests assert both: that the loader does the former, and
// that it refuses to start anything when the latter do not come back. Properties that only
// Windows can show are listed as such.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// packages are those whose tests say something about Windows.
var packages = []string{"./internal/enforce/start", "./backends/winjob", "./cmd/accessc"}

func main() {
	verbose := flag.Bool("v", false, "print what the tests print")
	keep := flag.String("prefix", "", "use and keep this Wine prefix")
	flag.Parse()
	if err := run(*keep, *verbose, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "wine:", err)
		os.Exit(1)
	}
}

func run(prefix string, verbose bool, out io.Writer) error {
	begin := time.Now()
	wine, err := find()
	if err != nil {
		return err
	}
	if prefix == "" {
		if prefix, err = os.MkdirTemp("", "accessc-wine-"); err != nil {
			return err
		}
		defer os.RemoveAll(prefix)
	}
	env := append(os.Environ(), "WINEPREFIX="+prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=",
		"GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if err := boot(wine, prefix, env); err != nil {
		return err
	}
	defer stop(wine, env)
	booted := time.Since(begin)
	results, err := test(wine, env, verbose, out)
	report(out, results)
	fmt.Fprintf(out, "%s, %.1f s: %.1f s to make a prefix, %.1f s to build and run\n",
		version(wine), time.Since(begin).Seconds(), booted.Seconds(), (time.Since(begin) - booted).Seconds())
	return err
}

// find returns Wine for 64-bit programs, which Debian keeps out of PATH.
func find() (string, error) {
	for _, name := range []string{"wine64", "/usr/lib/wine/wine64", "wine"} {
		if file, err := exec.LookPath(name); err == nil {
			return file, nil
		}
	}
	return "", errors.New("no wine64; on Debian: apt-get install --no-install-recommends wine64")
}

func version(wine string) string {
	out, _ := exec.Command(wine, "--version").Output()
	return strings.TrimSpace(string(out))
}

// boot makes a prefix, with the library that Go programs need and old versions lack.
func boot(wine, prefix string, env []string) error {
	cmd := exec.Command(wine, "wineboot", "-i")
	cmd.Env = env
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("wineboot: %w\n%s", err, text)
	}
	library := filepath.Join(prefix, "drive_c", "windows", "system32", forwarderName)
	if _, err := os.Stat(library); err == nil {
		return nil
	}
	return os.WriteFile(library, forwarder(), 0o644)
}

// stop ends the processes that Wine leaves running for this prefix.
func stop(wine string, env []string) {
	for _, name := range []string{"wineserver64", "wineserver"} {
		server := filepath.Join(filepath.Dir(wine), name)
		if _, err := os.Stat(server); err != nil {
			continue
		}
		cmd := exec.Command(server, "-k")
		cmd.Env = env
		_ = cmd.Run()
		return
	}
}

// result is the result of one test.
type result struct{ pkg, name, action string }

// test runs the tests and collects how each ended.
func test(wine string, env []string, verbose bool, out io.Writer) ([]result, error) {
	cmd := exec.Command("go", append([]string{"test", "-count=1", "-json", "-exec", wine}, packages...)...)
	cmd.Env = env
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var results []result
	said := map[string]*bytes.Buffer{}
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct{ Action, Package, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintf(out, "%s\n", lines.Bytes())
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			if said[key] == nil {
				said[key] = &bytes.Buffer{}
			}
			said[key].WriteString(e.Output)
			if verbose {
				fmt.Fprint(out, e.Output)
			}
		case "pass", "fail", "skip":
			if e.Action == "fail" && !verbose && said[key] != nil {
				fmt.Fprint(out, said[key])
			}
			if e.Test != "" && !strings.Contains(e.Test, "/") {
				results = append(results, result{e.Package, e.Test, e.Action})
			}
		}
	}
	return results, errors.Join(lines.Err(), cmd.Wait())
}

// report lists the tests by result, each with its assertion.
func report(out io.Writer, results []result) {
	says, err := sentences()
	if err != nil {
		fmt.Fprintln(out, err)
	}
	slices.SortStableFunc(results, func(a, b result) int { return strings.Compare(a.name, b.name) })
	for _, group := range []struct{ action, title string }{
		{"pass", "asserted"}, {"skip", "for Windows alone"}, {"fail", "FAILED"},
	} {
		first := true
		for _, r := range results {
			text := says[path.Base(r.pkg)+"."+r.name]
			if r.action != group.action || text == "" {
				continue
			}
			if first {
				fmt.Fprintf(out, "%s\n", group.title)
				first = false
			}
			fmt.Fprintf(out, "  %-28s %s\n", r.name, text)
		}
	}
	fmt.Fprintf(out, "%d tests in all\n", len(results))
}
