package ruleset_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
	"github.com/accessc/accessc/test/irtest"
)

// hiding are lines that run a command, LINE, or hand it to a program that does: QUOTED is the line as one word, WORD
// its first word, and REST the others.
var hiding = strings.Split(strings.TrimSpace(`
bash -c "$(printf %s QUOTED)"
bash -c "$X"
eval "$(echo QUOTED)"
eval QUOTED
bash <<< QUOTED
sh -s <<< QUOTED
python3 <<< QUOTED
trap QUOTED EXIT
sh +x -c QUOTED
bash +o posix -c QUOTED
bash -O extglob -c QUOTED
source <(echo QUOTED)
. /dev/stdin <<< QUOTED
bash /dev/fd/0 <<< QUOTED
echo QUOTED | sh
echo QUOTED | bash -s --
echo QUOTED | ssh host
echo QUOTED | sudo -s
echo QUOTED | su
echo QUOTED | frobnicate
cat <(echo QUOTED) | bash
flock /tmp/l LINE
flock /tmp/l -c QUOTED
script -c QUOTED out
script -qcQUOTED out
frobnicate -qcWORD REST
su -c QUOTED
su user -c QUOTED
ssh host LINE
ssh host QUOTED
ssh -o ProxyCommand=QUOTED host
ssh -oProxyCommand=QUOTED host
parallel LINE ::: x
parallel QUOTED ::: x
parallel ::: QUOTED
xargs LINE
xargs sh -c QUOTED
xargs -I{} bash -c QUOTED
echo WORD | xargs -I{} {} REST
env -S QUOTED
env -SQUOTED
env --split-string=QUOTED
env -S WORD REST
env --unknown LINE
python3 -c "import os; os.system('x')"
perl -e 'exec "x"'
awk 'BEGIN{system("x")}'
tar -cf a --checkpoint-action=exec=QUOTED b
git -c alias.x='!'QUOTED x
git -c core.pager=QUOTED log
make SHELL=QUOTED
frobnicate LINE
frobnicate --run QUOTED
frobnicate --run=QUOTED
frobnicate -- LINE
./frobnicate x y LINE
frobnicate {WORD,REST}
X=QUOTED frobnicate
PAGER=QUOTED man ls
$X
"$X" y
if true; then LINE; fi
for i in 1; do LINE; done
f() { LINE; }; f
tmux new -d QUOTED
docker run x LINE
watch QUOTED
at now <<< QUOTED
ssh host "ssh other "QUOTED
nohup setsid timeout 5 frobnicate LINE
`), "\n")

// stopped are rules that deny or ask, each with lines that it stops.
var stopped = []struct {
	rule  ruleset.Matcher
	lines []string
}{
	{ruleset.Command{Names: []string{"rm"}}, []string{"rm -rf x", "rm x"}},
	{
		ruleset.All{ruleset.Command{Names: []string{"rm"}}, ruleset.Flags{"-r", "-f"}},
		[]string{"rm -rf x", "rm -fr x", "rm -r -f x"},
	},
	{ruleset.Prefix{{"git", "push"}}, []string{"git push", "git push x y", "git -C . push", "git --no-pager push x"}},
	{ruleset.Command{Names: []string{"git"}, Subcommands: []string{"push"}}, []string{"git push", "git -C . push x"}},
	{ruleset.Prefix{{"rm", "-rf"}}, []string{"rm -rf x", "rm -r -f x", "rm -v -rf x"}},
	{ruleset.Prefix{{"npm", "publish"}}, []string{"npm publish", "npm --tag x publish"}},
	{ruleset.Command{Names: []string{"deploy"}}, []string{"deploy", "./deploy x", "/usr/bin/deploy"}},
}

// TestHiddenCommands: what is not understood may be a command that a rule stops, whatever the form. A program of
// which no table knows that it runs others is such a form, and so are input, code and values that hold commands.
func TestHiddenCommands(t *testing.T) {
	for _, s := range stopped {
		for _, line := range s.lines {
			for _, form := range hiding {
				if err := held(s.rule, ruleset.Deny, shell.Bash, hidden(form, line)); err != nil {
					t.Error(err)
				}
			}
		}
	}
	irtest.Many(t, 200_000, func(r *rand.Rand) error {
		s := stopped[r.IntN(len(stopped))]
		line := s.lines[r.IntN(len(s.lines))]
		for range 2 + r.IntN(2) {
			line = hidden(hiding[r.IntN(len(hiding))], line)
		}
		outcome := []ruleset.Outcome{ruleset.Deny, ruleset.Ask}[r.IntN(2)]
		return held(s.rule, outcome, []shell.Dialect{shell.Bash, shell.POSIX}[r.IntN(2)], line)
	})
}

// held tells whether a line goes on without a word although a rule may stop it.
func held(m ruleset.Matcher, outcome ruleset.Outcome, d shell.Dialect, line string) error {
	set := &ruleset.Set{Root: "/w", Shell: d, Rules: []*ruleset.Rule{
		{Outcome: outcome, Matcher: m},
		{Outcome: ruleset.Allow, Matcher: ruleset.Command{Names: []string{"ls", "git", "echo", "printf", "cat"}}},
	}}
	out := decide(set, line)
	if out.Outcome == ruleset.Allow || out.Outcome == ruleset.Unknown && !set.MayStop(ruleset.Execute, &out) {
		return fmt.Errorf("%q under %#v: %v: %s", line, m, out.Outcome, out.Cause().Why)
	}
	return nil
}

func hidden(form, line string) string {
	first, rest, _ := strings.Cut(line, " ")
	quoted := "'" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	listed, nested := strings.Contains(form, "WORD"), strings.Contains(form, `"ssh`)
	if listed && strings.ContainsAny(line, `'"|;`) || nested && strings.Contains(line, `"`) {
		return line // it is no list of words
	}
	return strings.NewReplacer("QUOTED", quoted, "LINE", line, "WORD", first, "REST", rest).Replace(form)
}

// asked are the ordinary lines that are not followed: a person is asked about them wherever a rule denies or asks.
const asked = 15

// TestOrdinaryLinesGoOn: a rule that stops a program of which no line has any form changes no verdict. The number of
// lines that are not followed is exact, so that a change of it shows.
func TestOrdinaryLinesGoOn(t *testing.T) {
	none := &ruleset.Set{Root: "/w", Shell: shell.Bash}
	set := &ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{
		{Outcome: ruleset.Deny, Matcher: ruleset.Command{Names: []string{"shutdown", "mkfs"}}},
	}}
	count := 0
	for _, e := range slices.Concat(corpus(t, "developer.txt", ""), corpus(t, "ordinary.txt", "")) {
		a, b := decide(none, e.line), decide(set, e.line)
		if a.Outcome != b.Outcome {
			t.Errorf("%q: %v, without the rule %v", e.line, b.Outcome, a.Outcome)
		}
		if set.MayStop(ruleset.Execute, &b) {
			count++
			t.Log(e.line)
		}
	}
	if count != asked {
		t.Errorf("a person is asked about %d lines, want %d", count, asked)
	}
}
