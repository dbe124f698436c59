package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// soak runs random tests with fresh seeds for a time.
type soak struct {
	length          time.Duration
	checks          float64
	kernels, record bool
	packages        []string
	rows            []row
}

// row is what a soak did with one package as one user.
type row struct {
	what, user        string
	runs, tests       int
	cases, seeds      int
	met, inconclusive int
	failures          int
}

// soaked is the condition of a soak.
var soaked = condition{name: "soak", busy: 2}

// few is the scale of the first round, so that a short soak has seen every package.
const few = 0.1

// run goes round the packages, as both users where it may, until the time is over.
func (s *soak) run(p *place) (bool, error) {
	packages, err := s.random(p)
	if err != nil {
		return false, err
	}
	end, ok := time.Now().Add(s.length), true
	for round := 0; time.Now().Before(end); round++ {
		rand.Shuffle(len(packages), func(i, j int) { packages[i], packages[j] = packages[j], packages[i] })
		for _, pkg := range packages {
			for _, user := range []bool{false, true} {
				if user && os.Getuid() != 0 || !time.Now().Before(end) {
					continue
				}
				passed, err := s.one(p, pkg, user, round)
				if err != nil {
					return false, err
				}
				ok = ok && passed
			}
		}
	}
	if s.kernels && !s.boot(p) {
		ok = false
	}
	fmt.Print(table(s.rows))
	if s.record {
		err = addSoak(p, s.rows)
	}
	return ok, err
}

// one runs the tests of a package once.
func (s *soak) one(p *place, pkg string, user bool, round int) (bool, error) {
	c, scale := soaked, s.checks
	c.user = user
	if round == 0 {
		scale = min(few, scale)
	}
	env := []string{"ACCESSC_SEED=random", "ACCESSC_CHECKS=" + strconv.FormatFloat(scale, 'g', -1, 64)}
	r, err := p.test(c, env, "-shuffle=on", "-timeout=2h", pkg)
	if err != nil {
		return false, fmt.Errorf("%s: %w", pkg, err)
	}
	w := s.row(pkg, name(user))
	w.add(r)
	fmt.Printf("%s %-28s %-5s scale %-4g %s\n", time.Now().Format(time.TimeOnly), pkg, w.user, scale, r.line(""))
	r.explain(os.Stdout)
	if !r.ok() {
		return false, p.bringBack(pkg, user)
	}
	return true, nil
}

func name(user bool) string {
	switch {
	case user:
		return "nobody"
	case os.Getuid() == 0:
		return "root"
	default:
		return "user"
	}
}

// row finds or makes the row of a package and user.
func (s *soak) row(what, user string) *row {
	for i := range s.rows {
		if w := &s.rows[i]; w.what == what && w.user == user {
			return w
		}
	}
	s.rows = append(s.rows, row{what: what, user: user})
	return &s.rows[len(s.rows)-1]
}

// add counts what a run said.
func (w *row) add(r *result) {
	w.runs++
	w.tests += r.passed + len(r.failed)
	w.seeds += len(r.draws)
	w.failures += len(r.failed)
	for _, line := range r.draws {
		var n, per int
		if _, text, found := strings.Cut(line, ": property "); found {
			_, text, _ = strings.Cut(text, ": ")
			if k, _ := fmt.Sscanf(text, "%d runs of %d cases", &n, &per); k == 2 {
				w.cases += n * per
			} else {
				w.cases += n
			}
		}
	}
	for _, line := range r.races {
		switch {
		case strings.Contains(line, ": met,"):
			w.met++
		case strings.Contains(line, ": inconclusive,"):
			w.inconclusive++
		}
	}
}

// random lists the packages whose tests draw.
func (s *soak) random(p *place) ([]string, error) {
	if len(s.packages) > 0 {
		return s.packages, nil
	}
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}} {{.TestImports}} {{.XTestImports}}", "./...")
	cmd.Dir, cmd.Env = p.clone(false), p.env(false)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []string
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(line, " ")
		if strings.Contains(imports, "/test/irtest") {
			packages = append(packages, "./"+strings.TrimPrefix(strings.TrimPrefix(pkg, "github.com/accessc/accessc"), "/"))
		}
	}
	return packages, nil
}

// bringBack copies what failures left in testdata to the tree.
func (p *place) bringBack(pkg string, user bool) error {
	for _, kind := range []string{"rapid", "seeds"} {
		from := filepath.Join(p.clone(user), pkg, "testdata", kind)
		if _, err := os.Stat(from); err != nil {
			continue
		}
		to := filepath.Join(p.tree, pkg, "testdata")
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		if err := quiet("", "cp", "-r", from, to); err != nil {
			return err
		}
		fmt.Printf("  kept in %s\n", filepath.Join(pkg, "testdata", kind))
	}
	return nil
}

// boot runs the tests under other kernels, and reports whether they passed.
func (s *soak) boot(p *place) bool {
	if _, err := exec.LookPath("qemu-system-x86_64"); err != nil {
		fmt.Println("other kernels: not run, no qemu")
		return true
	}
	cmd := exec.Command("go", "run", "./test/kernels", "-limit=2h", "all")
	cmd.Dir, cmd.Env = p.clone(false), append(os.Environ(), "ACCESSC_SEED=random")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	defer busy(soaked.busy)()
	err := cmd.Run()
	w := s.row("test/kernels", name(false))
	w.runs++
	if err != nil {
		w.failures++
	}
	return err == nil
}
