package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// row is a kernel to test under: its source, and its expected properties.
type row struct {
	name    string
	abi     int
	newer   bool   // the interface may be newer than abi
	archive string // debian or ubuntu
	suite   string
	pattern string // of the package; the newest that matches is taken
	boot    string // parameters of the kernel beyond those of every row
}

// Debian's kernels for clouds boot fastest, but Debian has none of the kernels that
// were current between its releases. A kernel is a package linux-image until 6.18 and
// linux-binary since.
var rows = []row{
	{name: "none", archive: debian, suite: "bullseye", pattern: `linux-image-5\.10\.0-\d+-cloud-amd64`},
	{name: "off", archive: debian, suite: "bookworm", pattern: `linux-image-6\.1\.0-\d+-cloud-amd64`, boot: "lsm=yama"},
	{name: "1", abi: 1, archive: ubuntu, suite: "jammy-updates", pattern: `linux-image-unsigned-5\.15\.0-\d+-generic`},
	{name: "2", abi: 2, archive: debian, suite: "bookworm", pattern: `linux-image-6\.1\.0-\d+-cloud-amd64`},
	{name: "3", abi: 3, archive: ubuntu, suite: "jammy-updates", pattern: `linux-image-unsigned-6\.5\.0-\d+-generic`},
	{name: "4", abi: 4, archive: ubuntu, suite: "noble-updates", pattern: `linux-image-unsigned-6\.8\.0-\d+-generic`},
	{name: "5", abi: 5, archive: ubuntu, suite: "noble-updates", pattern: `linux-image-unsigned-6\.11\.0-\d+-generic`},
	{name: "6", abi: 6, archive: debian, suite: "trixie", pattern: `linux-image-6\.12\.\d+\+deb13-cloud-amd64`},
	{name: "7", abi: 7, archive: debian, suite: "trixie-backports", pattern: `linux-image-6\.18\.\d+\+deb13-cloud-amd64`},
	{name: "8", abi: 8, archive: debian, suite: "trixie-backports", pattern: `linux-binary-7\.0\.\d+\+deb13-cloud-amd64`},
	{name: "9", abi: 9, archive: debian, suite: "trixie-backports", pattern: `linux-binary-7\.1\.\d+\+deb13-cloud-amd64`},
	{name: "10", abi: 10, archive: debian, suite: "trixie-backports", pattern: `linux-binary-7\.2\.\d+\+deb13-cloud-amd64`},
	{name: "newest", abi: 11, newer: true, archive: debian, suite: "trixie-backports", pattern: `linux-binary-\d+\.\d+\.\d+\+deb13-cloud-amd64`},
}

// everyday are the rows that run when none is named: each kernel here differs from the one
// before it in the enforcement of the sandbox.
var everyday = []string{"none", "off", "1", "2", "3", "4", "6", "newest"}

// documents are tests that need the whole repository, or more of a system than a guest
// has, and whose answers are those of one kernel or of none.
const documents = "^(TestConsole|TestExamples|TestCloseOthers|TestProfileCanary|TestSupervisedOn)$|^TestScripts$/^mount$|"

// skips is a pattern of the tests that do not fit a row: those that ask the kernel for its
// enforcement where there is no Landlock, the scripts whose answers are those of kernels that
// restrict signals, and those of testdata that are about other kernels.
func (r row) skips() string {
	switch {
	case r.abi < 1:
		return documents + "^(TestKernel|TestKernelUnprivileged|TestDescriptorsAreClosed)$|^TestScripts$/^old$"
	case r.abi < signals:
		return documents + "^TestSwap$|^TestScripts$/^(apart|artifact|check|exec|homelist|older|ownprogram|place|programs|record|report|spawn|supervised|trace|without|" + waiting + ")$"
	default:
		return documents + "^TestScripts$/^(old|without|" + waiting + ")$"
	}
}

// waiting is a script that starts many tools, which wait for each other: in an emulator it takes longer than its limits.
const waiting = "ask"

// signals is the first interface that keeps a tool from signalling others.
const signals = 6

// choose returns the named rows, in the order of the table.
func choose(names []string) ([]row, error) {
	if len(names) == 0 {
		names = everyday
	}
	known := slices.Collect(func(yield func(string) bool) {
		for _, r := range rows {
			if !yield(r.name) {
				return
			}
		}
	})
	for _, n := range names {
		if n != "all" && !slices.Contains(known, n) {
			return nil, fmt.Errorf("there is no row %q; there are all, %s", n, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		return !slices.Contains(names, r.name) && !slices.Contains(names, "all")
	}), nil
}

// expects reports whether a kernel has the interface of its row.
func (r row) expects(abi int) bool { return abi == r.abi || r.newer && abi > r.abi }

// newest returns the package of the highest version that matches the row.
func (r row) newest(packages []string) (string, bool) {
	full := regexp.MustCompile("^" + r.pattern + "$")
	matching := slices.DeleteFunc(slices.Clone(packages), func(p string) bool { return !full.MatchString(p) })
	if len(matching) == 0 {
		return "", false
	}
	return slices.MaxFunc(matching, byNumbers), true
}

var numbers = regexp.MustCompile(`\d+`)

// byNumbers compares names that differ in their numbers alone.
func byNumbers(a, b string) int {
	return slices.CompareFunc(numbers.FindAllString(a, -1), numbers.FindAllString(b, -1), func(x, y string) int {
		if c := len(x) - len(y); c != 0 {
			return c
		}
		return strings.Compare(x, y)
	})
}
