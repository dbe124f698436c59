package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// needed are the programs that this one runs, and the packages that have them.
var needed = map[string]string{
	"qemu-system-x86_64": "qemu-system-x86", "apt-get": "apt", "dpkg-deb": "dpkg", "ldd": "libc-bin", "go": "golang-go", "cc": "gcc",
}

func main() {
	var s settings
	flag.Float64Var(&s.checks, "checks", 0.01, "scale of the property tests (ACCESSC_CHECKS)")
	flag.StringVar(&s.run, "run", "", "only the tests that match, as in go test -run")
	flag.DurationVar(&s.limit, "limit", 20*time.Minute, "time limit of one kernel")
	flag.BoolVar(&s.verbose, "v", false, "print what the tests of every row printed")
	jobs := flag.Int("jobs", runtime.NumCPU(), "kernels at a time")
	fresh := flag.Bool("update", false, "look for newer kernels than those in the cache")
	flag.IntVar(&s.cpus, "cpus", 1, "processors of each guest")
	flag.Parse()
	ok, err := run(flag.Args(), s, *jobs, *fresh)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kernels:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// run runs the named rows and prints the table.
func run(names []string, s settings, jobs int, fresh bool) (bool, error) {
	chosen, err := choose(names)
	if err != nil {
		return false, err
	}
	if err := equipped(); err != nil {
		return false, err
	}
	root, err := output(exec.Command("go", "list", "-m", "-f", "{{.Dir}}"))
	if err != nil {
		return false, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return false, err
	}
	cache = filepath.Join(cache, "accessc", "kernels")
	dir, err := os.MkdirTemp("", "accessc-kernels-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	initrd := filepath.Join(dir, "initrd")
	fmt.Fprintln(os.Stderr, "kernels: building the tests")
	if err := build(strings.TrimSpace(root), dir, initrd); err != nil {
		return false, err
	}
	results := bootAll(images(cache, chosen, fresh), initrd, s, jobs)
	return report(os.Stdout, results, s.verbose), nil
}

// equipped names all programs that are missing.
func equipped() error {
	var errs []error
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		errs = append(errs, fmt.Errorf("needs Linux on amd64, whose programs the guests start; this is %s on %s", runtime.GOOS, runtime.GOARCH))
	}
	for _, p := range slices.Sorted(maps.Keys(needed)) {
		if _, err := exec.LookPath(p); err != nil {
			errs = append(errs, fmt.Errorf("needs %s (package %s)", p, needed[p]))
		}
	}
	return errors.Join(errs...)
}

// bootAll boots some kernels at a time and returns the results in order.
func bootAll(all []image, initrd string, s settings, jobs int) []result {
	results := make([]result, len(all))
	slots := make(chan struct{}, max(1, jobs))
	var done sync.WaitGroup
	for i, img := range all {
		slots <- struct{}{}
		done.Go(func() {
			results[i] = boot(img, initrd, s)
			fmt.Fprintf(os.Stderr, "kernels: %s %s\n", img.name, results[i].verdict())
			<-slots
		})
	}
	done.Wait()
	return results
}

// verdict is one word on a row.
func (r *result) verdict() string {
	switch {
	case r.notRun != nil:
		return "not run"
	case r.ok():
		return "ok"
	default:
		return "failed"
	}
}

// report prints the table and the problems, and reports whether there were none and something
// was run.
func report(out io.Writer, results []result, verbose bool) bool {
	ok, ran := true, false
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\tkernel\tABI\tpassed\tfailed\tskipped\ttime\taccessc doctor")
	for _, r := range results {
		if r.notRun != nil {
			fmt.Fprintf(t, "%s\tnot run\t\t\t\t\t\t%s\n", r.name, strings.ReplaceAll(r.notRun.Error(), "\n", "; "))
			continue
		}
		ok, ran = ok && r.ok(), true
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%v\t%s\n", r.name, r.release, r.found, r.passed, r.failed, r.skipped, r.took.Round(time.Second), r.doctor)
	}
	_ = t.Flush()
	for _, r := range results {
		if verbose {
			fmt.Fprintf(out, "\n%s:\n%s", r.name, r.out)
		}
		for _, name := range slices.Sorted(maps.Keys(r.logs)) {
			fmt.Fprintf(out, "\n%s: %s failed:\n%s", r.name, name, r.logs[name])
		}
		for _, p := range r.problems {
			fmt.Fprintf(out, "\n%s: %s\n", r.name, p)
		}
	}
	return ok && ran
}
