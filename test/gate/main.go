package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "spin" {
		spin()
	}
	ok, err := command(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

const usage = "gate run [-record] [CONDITION[=TIMES]...] | gate soak [-for TIME] [-checks SCALE] [PACKAGE...] | gate list"

// command runs a command and reports whether all tests passed.
func command(args []string) (bool, error) {
	if len(args) == 0 {
		return false, fmt.Errorf("usage: %s", usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	switch args[0] {
	case "list":
		return true, list()
	case "run":
		record := flags.Bool("record", false, "add a line per run to docs/testing.md")
		_ = flags.Parse(args[1:])
		chosen, err := choose(flags.Args())
		if err != nil {
			return false, err
		}
		return inPlace(func(p *place) (bool, error) { return p.runAll(chosen, *record) })
	case "soak":
		s := soak{}
		flags.DurationVar(&s.length, "for", time.Hour, "how long; the package under test is finished")
		flags.Float64Var(&s.checks, "checks", 1, "scale of the properties (ACCESSC_CHECKS)")
		flags.BoolVar(&s.kernels, "kernels", true, "end with the kernels of test/kernels, where qemu is there")
		flags.BoolVar(&s.record, "record", false, "add the table to docs/testing.md")
		_ = flags.Parse(args[1:])
		s.packages = flags.Args()
		return inPlace(func(p *place) (bool, error) { return s.run(p) })
	}
	return false, fmt.Errorf("unknown command %q; usage: %s", args[0], usage)
}

// inPlace runs something in a place of its own, which is gone afterwards, also after an interrupt.
func inPlace(use func(*place) (bool, error)) (bool, error) {
	p, err := newPlace()
	if err != nil {
		return false, err
	}
	defer p.remove()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	go func() {
		<-signals
		p.remove()
		os.Exit(2)
	}()
	return use(p)
}

// list prints the conditions.
func list() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, c := range conditions {
		fmt.Fprintf(w, "%s\t%s\n", c.name, c.about)
	}
	return w.Flush()
}

// wanted is a condition and how often the gate runs under it.
type wanted struct {
	condition
	times int
}

// choose finds conditions by their names; none stands for all, once each.
func choose(words []string) ([]wanted, error) {
	var chosen []wanted
	if len(words) == 0 {
		for _, c := range conditions {
			chosen = append(chosen, wanted{c, 1})
		}
	}
	for _, word := range words {
		name, number, given := strings.Cut(word, "=")
		times := 1
		if given {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("%s: how many times?", word)
			}
			times = n
		}
		c, ok := named(name)
		if !ok {
			return nil, fmt.Errorf("no condition %q; gate list has them", name)
		}
		chosen = append(chosen, wanted{c, times})
	}
	return chosen, nil
}
