package ruleset_test

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// TestEvaluated: sh may be a shell that evaluates an operand which is no number, and runs the commands in it. mksh does
// so for the comparisons of test, for -t, and for the operands of builtins; ksh for printf as well.
func TestEvaluated(t *testing.T) {
	rules := []*ruleset.Rule{allow(named("test", "[", "printf", "exit", "return", "shift", "break", "ulimit", "echo"))}
	for line, want := range map[string]string{
		`[ 'a[$(./evil)]' -eq 0 ]`:      "unknown allow",
		`[ 0 -eq 'a[$(./evil)]' ]`:      "unknown allow",
		`test x -ge 0`:                  "unknown allow",
		`test 1 -lt 'x[0]'`:             "unknown allow",
		`test -f a -a x -le 1`:          "unknown allow",
		`[ ! a -ne 1 ]`:                 "unknown allow",
		`[ 1 -gt * ]`:                   "unknown unknown", // a pattern may become an option
		`[ -t 'a[$(./evil)]' ]`:         "unknown allow",
		`printf %d 'a[$(./evil)]'`:      "unknown allow",
		`printf '%s %05d' a b`:          "unknown allow",
		`printf '%*s' 'a[$(./evil)]' x`: "unknown allow",
		`exit 'a[$(./evil)]'`:           "unknown allow",
		`return 'a[0]'`:                 "unknown allow",
		`exit '-a[$(./evil)]'`:          "unknown allow",
		`shift x`:                       "unknown allow",
		`break 'a[$(./evil)]'`:          "unknown allow",
		`ulimit -n 'a[$(./evil)]'`:      "unknown allow",
		`[ 1 -eq 0 ]`:                   "allow allow",
		`test 1 -lt +2`:                 "allow allow",
		`[ a = b ] || [ -t 1 ]`:         "allow allow",
		`[ -t ]`:                        "allow allow",
		`printf '%s\n' 'a[$(./evil)]'`:  "allow allow",
		`printf '%s: %-10s %%' a b`:     "allow allow",
		`printf '%d\n' 12`:              "allow allow",
		`exit 1`:                        "allow allow",
		`ulimit -n 256`:                 "allow allow",
		`echo 'a[$(./evil)]' -eq 0`:     "allow allow",
		`shift`:                         "allow allow",
		`printf 'plain text'`:           "allow allow",
		`printf '%q' "a b"`:             "allow allow",
		`printf %b 'a'`:                 "allow allow",
		`test 1 -eq 1 -a 2 -eq 'a[$x]'`: "unknown allow",
	} {
		var got []string
		for _, d := range []shell.Dialect{shell.POSIX, shell.Bash} {
			got = append(got, decide(&ruleset.Set{Root: "/w", Shell: d, Rules: rules}, line).Outcome.String())
		}
		if have := strings.Join(got, " "); have != want {
			t.Errorf("%q: sh and bash: %s, want %s", line, have, want)
		}
	}
}
