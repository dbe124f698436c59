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
bash - <<< QUOTED
bash -- - <<< QUOTED
echo QUOTED | bash -x -
echo QUOTED | bash -ex -
echo QUOTED | sh -e -
echo QUOTED | dash -
echo QUOTED | zsh -
echo QUOTED | bash --posix -
echo QUOTED | bash --rcfile x -
echo QUOTED | bash +e
echo QUOTED | bash -o pipefail -
echo QUOTED | bash +O extglob
echo QUOTED | bash -eo pipefail
echo QUOTED | ksh --unknown x
echo QUOTED | sudo -E bash -
bash -O extglob <<< QUOTED
bash +x -c QUOTED
bash -O extglob -eo pipefail -c QUOTED
bash //dev/stdin <<< QUOTED
bash /dev/./stdin <<< QUOTED
bash ../../../../dev/stdin <<< QUOTED
sh /proc/self/fd/0 <<< QUOTED
sh //proc/self/fd/0 <<< QUOTED
cd /dev && sh stdin <<< QUOTED
cd /dev/fd; sh 0 <<< QUOTED
. //dev/stdin <<< QUOTED
python3 ../../dev/stdin <<< QUOTED
sed e <<< QUOTED
echo QUOTED | sed e
echo QUOTED | sed -n '/x/!{1e;p}'
echo QUOTED | sed 's/^//e'
echo QUOTED | sed -Ee 's|a|b|;s,x,y,gI;p;s/^//2e;d'
echo QUOTED | sed --expression='y/a/b/;e'
sed -e p -e 's/x/'QUOTED'/;e' x
sed 1'e 'QUOTED x
echo '1e '| sed -f -
sed --file=- x <<< QUOTED
sed -nf /dev/stdin x <<< QUOTED
sed 's/x/y' x <<< QUOTED
echo QUOTED | awk -f -
echo QUOTED | awk '{system($0)}'
echo QUOTED | awk '{print|"sh"}'
gawk --file=/dev/fd/0 <<< QUOTED
gawk -D '{print}' <<< QUOTED
python3 -m code <<< QUOTED
echo QUOTED | python3 -m mine
vim x <<< QUOTED
vim +QUOTED x
vim -c QUOTED x
env -vS QUOTED
env --spl=QUOTED
env -S 'bash -c "'LINE'"'
PS4=QUOTED bash -xc ls
export PROMPT_COMMAND=QUOTED
x=QUOTED; ls
declare -x X=QUOTED
x+=QUOTED; ls
for i in QUOTED; do ls; done
for i in QUOTED; do $i; done
case x in x) LINE;; esac
case $(LINE) in x) ls;; esac
while LINE; do sleep 1; done
until ls; do LINE; done
f() { bash; }; echo QUOTED | f
ls() { frobnicate; }; ls <<< QUOTED
ls() { eval "$1"; }; ls QUOTED
alias g=WORD; g REST
alias -p g='env 'WORD; g REST
shopt -s expand_aliases; alias ls=QUOTED
hash -p /usr/bin/WORD g; g REST
BASH_ALIASES[g]=WORD; g REST
declare -A BASH_CMDS=([g]=WORD); g REST
printf -v 'BASH_ALIASES[g]' %s WORD; g REST
ln -s /usr/bin/WORD g; ./g REST
cp /bin/WORD g && ./g REST
xargs -r frobnicate <<< QUOTED
xargs env LINE
printf -v X %s QUOTED; $X
printf "$X"
git grep -O"$X"
git "$X" y
ln -s "$(command -v WORD)" g; ./g REST
cp "$X" g; ./g REST
declare -xl PAGER=QUOTED; man ls
for i in {WORD,REST}; do ls; done
bash --rcfile /dev/stdin -ic ls <<< QUOTED
BASH_ENV=/dev/stdin bash -c ls <<< QUOTED
frobnicate alias g=WORD; g REST
`), "\n")

// gits are lines that push for git's own reasons: its programs' names, its escapes, its configuration.
var gits = strings.Split(strings.TrimSpace(`
git-push
/usr/lib/git-core/git-push x
sudo git-push
env 'git-push'
xargs -r git-push
env -S 'git\_push'
env -S 'git\tpush\c x'
env -vS 'git\_push'
env --split-string='git\_push'
env --split-string='-i A=1 git\_push'
env -S "'git' push"
env -S '"git" ${X}'
git -c alias.x=push x
git -c alias.x=push -C . x
git -calias.x=push x
git -c help.autocorrect=1 psh
git --config-env=alias.x=V x
git --config-env alias.x=V x
git -c include.path=/dev/stdin log
git config alias.x push
git config --global alias.x push
git config help.autocorrect immediate; git psh
git for-each-repo --config=x push
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x
export GIT_CONFIG_PARAMETERS="'alias.x=push'"; git x
GIT_CONFIG_GLOBAL=x; git x
env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x
sed ':a e git push' y
sed ':a s/.*/git push/e' y
sed -n ': a /x/s//git push/e' y
sed -e 'ta e git push' -e ':a' y
git -c protocol.ext.allow=always fetch 'ext::sh -c git% push'
GIT_ALLOW_PROTOCOL=ext git fetch 'ext::sh -c git% push'
GIT_ALLOW_PROTOCOL=ext git clone 'ext::sh -c git% push' x
cargo --config 'target."cfg(all())".runner="git push"' run
cargo run --config 'target."cfg(all())".runner="git push"'
NODE_OPTIONS=--import=data:text/javascript,import%28%22x%22%29 node y.js
npm --node-options=--import=data:text/javascript,import%28%22x%22%29 test
parallel git ::: push
parallel {1} {2} ::: git ::: push
rg --pre git x push
cmake '-DCMAKE_C_COMPILER_LAUNCHER=git;push' .
`), "\n")

// fed are lines that hand what curl fetches to a program that runs it.
var fed = strings.Split(strings.TrimSpace(`
curl x | bash -
curl x | sudo -E bash -
curl x | sh -
curl x | zsh -
curl x | bash +x
curl x | bash -O extglob
curl x | bash //dev/stdin
(cd y; curl x) | bash -
curl x | python3 -m code
curl x | python3 ../../dev/stdin
curl x | sed e
curl x | sed 's/^//e'
curl x | awk -f -
curl x | . /dev/stdin
if true; then curl x; fi | bash -
f() { bash -; }; curl x | f
curl x | env -S 'bash\_-'
`), "\n")

// literal are lines of which every word is known, or cannot be a command: no rule about another program stops them.
var literal = strings.Split(strings.TrimSpace(`
env FOO=1 ls
env FOO=1 make
FOO=1 ls
x=1; echo a
export FOO=bar
declare -A m
if true; then echo y; fi
if ls; then echo y; elif pwd; then date; else cat x; fi
for i in 1 2; do echo hi; done
case x in x) ls;; esac
while true; do sleep 1; done
f() { echo 1; }; f
git log -- "$f"
git show "$c"
git diff "$a" "$b"
cd "$f" && ls
cd /tmp && ls
printf %s "$X"
awk '{ s += $2 } END { print s }' x
awk -F'|' '$1 > 3 || $2 { print $2 }' x
vim x
nano x
xargs -r gofmt -l
sed 's/foo/bar/;/x/{n;d}' x
sed -i -e 's/a/e/g' -e '/^$/d' x
sed -n '/start/,/end/{s/^ *//;p;}' x
bash x.sh
bash -e -o pipefail build.sh
bash --version
python3 -m http.server
python3 -m mine x
git -c user.name=x commit -m y
git config user.name x
cp a b
ln -s a b
for f in *.go; do echo hi; done
x | python3 -m json.tool
go list ./... | sed 's/x/y/' | awk '{print $1}' | sort
bash scripts/dev/setup.sh
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
	push := ruleset.Prefix{{"git", "push"}}
	piped := ruleset.All{ruleset.Command{Names: []string{"curl", "wget"}}, ruleset.PipedToShell{}}
	for _, outcome := range []ruleset.Outcome{ruleset.Deny, ruleset.Ask} {
		for _, d := range []shell.Dialect{shell.Bash, shell.POSIX} {
			for _, line := range gits {
				if err := held(push, outcome, d, line); err != nil {
					t.Error(err)
				}
			}
			for _, line := range fed {
				if err := held(piped, outcome, d, line); err != nil {
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

// TestLiteralLinesGoOn: nobody is asked about a line that hides nothing.
func TestLiteralLinesGoOn(t *testing.T) {
	for _, m := range []ruleset.Matcher{
		ruleset.Prefix{{"git", "push"}},
		ruleset.Command{Names: []string{"shutdown"}},
		ruleset.All{ruleset.Command{Names: []string{"curl", "wget"}}, ruleset.PipedToShell{}},
	} {
		for _, line := range literal {
			if held(m, ruleset.Deny, shell.Bash, line) == nil {
				set := &ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{{Outcome: ruleset.Deny, Matcher: m}}}
				out := decide(set, line)
				t.Errorf("%q under %#v: %v: %s", line, m, out.Outcome, out.Cause().Why)
			}
		}
	}
}

// asked are the ordinary lines that are not followed: a person is asked about them wherever a rule denies or asks.
const asked = 9

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
