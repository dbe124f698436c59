package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// vmlinuz is the kernel's name in the packages of both archives.
var vmlinuz = regexp.MustCompile(`/vmlinuz[^/]*$`)

// image is the kernel of a row, or why there is none.
type image struct {
	row
	file string
	err  error
}

// images finds the kernels of rows in the cache, or fetches them. With fresh, those
// in the cache are replaced by newer ones.
func images(cache string, chosen []row, fresh bool) []image {
	out := make([]image, len(chosen))
	var missing []*image
	for i, r := range chosen {
		out[i].row = r
		if kept, _ := filepath.Glob(filepath.Join(cache, r.name, "linux-*")); len(kept) > 0 {
			out[i].file = kept[0]
		}
		if out[i].file == "" || fresh {
			missing = append(missing, &out[i])
		}
	}
	if len(missing) > 0 {
		fetchAll(cache, missing)
	}
	return out
}

// fetchAll fetches the missing images, archive by archive.
func fetchAll(cache string, missing []*image) {
	suites := map[string][]string{}
	for _, m := range missing {
		suites[m.archive] = append(suites[m.archive], m.suite)
	}
	if suites[ubuntu] != nil {
		// Debian has the keys and the address of Ubuntu's archive.
		suites[debian] = append(suites[debian], "trixie")
	}
	a, err := open(filepath.Join(cache, "apt"))
	if err != nil {
		for _, m := range missing {
			m.err = err
		}
		return
	}
	for _, archive := range []string{debian, ubuntu} {
		var reason error
		if suites[archive] != nil {
			fmt.Fprintf(os.Stderr, "kernels: reading the package lists of %s\n", archive)
			reason = a.add(archive, suites[archive])
		}
		for _, m := range missing {
			if m.archive != archive {
				continue
			}
			// One suite that is gone takes nothing from the others.
			if e := m.fetch(a, cache); e != nil && m.file == "" {
				m.err = errors.Join(reason, e)
			}
		}
	}
}

// fetch puts the newest kernel of a row in the place of the one in the cache.
func (m *image) fetch(a *apt, cache string) error {
	packages, err := a.packages(strings.SplitN(m.pattern, `\`, 2)[0])
	if err != nil {
		return err
	}
	pkg, ok := m.newest(packages)
	if !ok {
		return fmt.Errorf("no package of %s matches %s", m.suite, m.pattern)
	}
	file := filepath.Join(cache, m.name, pkg)
	if file == m.file {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "kernels: fetching %s\n", pkg)
	if err := a.fetch(pkg, vmlinuz, file); err != nil {
		return err
	}
	if m.file != "" {
		_ = os.Remove(m.file)
	}
	m.file = file
	return nil
}
