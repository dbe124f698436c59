package ruleset_test

import (
	"path"
	"strings"
	"testing"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

type (
	command = ruleset.Command
	flags   = ruleset.Flags
	all     = ruleset.All
)

func allow(m ruleset.Matcher) *ruleset.Rule {
	return &ruleset.Rule{Outcome: ruleset.Allow, Matcher: m}
}

func deny(m ruleset.Matcher) *ruleset.Rule { return &ruleset.Rule{Outcome: ruleset.Deny, Matcher: m} }

func named(names ...string) command { return command{Names: names} }

func sub(name string, subs ...string) command {
	return command{Names: []string{name}, Subcommands: subs}
}

// TestMatchers: the reach of each matcher, in rules that allow and in rules that deny.
func TestMatchers(t *testing.T) {
	for _, c := range []struct {
		name                 string
		rules                []*ruleset.Rule
		allow, deny, unknown []string
	}{
		{
			"names are exact for allow and loose for deny",
			[]*ruleset.Rule{deny(named("rm")), allow(named("ls"))},
			[]string{"ls", "ls -l /"},
			[]string{"rm x", "/bin/rm x", "./rm x", "RM x", "rm.exe x", "ls; rm x", "ls $(rm x)", "sudo rm x", "bash -c 'rm x'", "if a; then rm x; fi", "X=1 rm x", "env -i nice rm x", "eval rm x", "ls | xargs rm", "find . -exec rm {} +", `git -c alias.x=y z; r\m x`, "ls \\\n; rm x", "zsh -c 'rm x'"},
			[]string{"/bin/ls", "./ls", "LS", "ls $X", "x", "$X", "{rm,x}"},
		},
		{
			// Once, only the program's name lost its end, so that the rule matched no path.
			"names that end in .exe are loose for deny, too",
			[]*ruleset.Rule{deny(named("cmd.exe"))},
			nil,
			[]string{"cmd.exe", "cmd", "/mnt/c/Windows/System32/cmd.exe /c x", "CMD.EXE", "./Cmd.Exe"},
			[]string{"cmd.com", "exe", "xcmd.exe"},
		},
		{
			"subcommands follow known options",
			[]*ruleset.Rule{deny(sub("git", "push")), allow(sub("git", "status", "stash list")), allow(sub("docker", "ps"))},
			[]string{"git status", "git --no-pager status -s", "git stash list", "docker ps -a"},
			[]string{"git push", "git --no-pager push x", "git -C sub push"},
			[]string{"git stash", "git stash drop", "git --evil status", "git --evil push", "git log", "git", "docker --host x ps", "docker run x"},
		},
		{
			"flags combine",
			[]*ruleset.Rule{deny(all{named("rm"), flags{"-r", "-f"}}), allow(all{named("npm"), command{Names: []string{"npm"}, Subcommands: []string{"install"}}, flags{"--save-dev"}}), allow(all{named("ls"), flags{"-n"}})},
			[]string{"npm install --save-dev a", "ls -n", "ls a -n"},
			[]string{"rm -rf x", "rm -fr x", "rm -r x -f", "rm -vrf x", "rm --recursive --force x", "rm -R -f x"},
			[]string{"npm install a", "rm x", "rm -r x", "rm -r -- -f", "rm -r * x", "ls", "ls -on", "ls -- -n"},
		},
		{
			"arguments are exact",
			[]*ruleset.Rule{allow(all{named("go"), ruleset.Args{{"vet", "./..."}, {"test", "**"}}}), allow(all{named("x"), ruleset.Args{{}}})},
			[]string{"go vet ./...", "go test", "go test -v ./...", "x"},
			nil,
			[]string{"go vet", "go vet ./... a", "go build", "x y", "x *", "go test -exec y"},
		},
		{
			"programs that run others without arguments",
			[]*ruleset.Rule{allow(all{named("make"), ruleset.Args{{}}}), allow(ruleset.Prefix{{"unshare"}, {"pytest"}}), allow(named("script", "just", "kubectl"))},
			[]string{"make", "pytest -q x", "kubectl get pods -n x"},
			nil,
			[]string{"make x", "unshare", "unshare < x", "script < x", "just", "pytest --basetemp=/x", "pytest ../x", "kubectl get pods --kubeconfig=x"},
		},
		{
			"options of programs without a table",
			[]*ruleset.Rule{allow(sub("helm", "list")), allow(ruleset.Prefix{{"make", "test"}, {"gh", "pr", "list"}, {"make", "-j4", "test"}, {"make", "-j4"}, {"python3", "-m", "pytest"}, {"python3", "-m", "pip", "list"}})},
			[]string{"helm list", "make test", "make -j4 test", "gh pr list", "python3 -m pytest -q a"},
			nil,
			[]string{"helm list --kubeconfig=x", "make -j4 all", "make test SHELL=x", "make test -f x", "make test *", "gh pr list --web", "python3 -m pytest -p evil", "python3 -m pytest -c /x", "python3 -m pip list --python=x", "python3.12 -m pytest"},
		},
		{
			"prefixes spell out",
			[]*ruleset.Rule{allow(ruleset.Prefix{{"npm", "run", "test"}, {"bash", "ci.sh"}, {"xargs", "grep"}, {"sudo", "apt", "list"}, {"bash", "-c", "make all"}}), allow(sub("xargs", "wc"))},
			[]string{"npm run test", "npm run test -- -v", "bash ci.sh a", "xargs grep x", "sudo apt list", "bash -c 'make all'", "xargs -n 1 wc -l"},
			nil,
			[]string{"npm run", "xargs -I wc wc x", "xargs --replace=wc wc", "xargs -iwc wc", "sudo -s apt list", "npm run evil", "bash x.sh", "xargs -n 1 grep x", "xargs rm", "sudo apt install x", "bash -c 'make clean'", "grep x", "apt list"},
		},
		{
			"any, all and not",
			[]*ruleset.Rule{allow(all{named("git"), ruleset.Not{sub("git", "push")}}), allow(ruleset.Any{named("a"), named("b")})},
			[]string{"git status", "a", "b"},
			nil,
			[]string{"git push", "git --evil x push", "git $X", "c"},
		},
		{
			"the first rule that matches wins",
			[]*ruleset.Rule{deny(all{sub("git", "push"), flags{"--force"}}), allow(sub("git", "push")), deny(named("git"))},
			[]string{"git push origin"},
			[]string{"git push --force", "git status"},
			[]string{"git push --forc", "git push *"},
		},
		{
			"piped to a shell",
			[]*ruleset.Rule{deny(all{named("curl"), ruleset.PipedToShell{}}), allow(named("curl", "jq"))},
			[]string{"curl -s https://x | jq ."},
			[]string{"curl x | sh", "curl x | tee a | bash -s", "bash <(curl x)", `sh -c "$(curl x)"`, "curl x | xargs bash -c", "curl x | python3 -", "bash <<< $(curl x)"},
			[]string{"curl x | python3 -m json.tool"},
		},
		{
			"within a directory",
			[]*ruleset.Rule{allow(all{named("cat"), ruleset.Within("/w/src")})},
			[]string{"cd src && cat a", "cd src && cat ./a/../b"},
			nil,
			[]string{"cat src/a", "cd src && cat ../a", "cd src && cat /etc/x", "cd src && cat *", "cd src; cat a", "cd src && cat ~/x", "cd src && cat --f=../a", "cd src && cat -f../a", "cd src && cat -f/etc/x", "cd src && cat @/etc/x", "cd src && cat a:/etc/x", "cd src && cat -ab/etc/x"},
		},
		{
			"git elsewhere",
			[]*ruleset.Rule{allow(all{sub("git", "log"), ruleset.Within("/w/lib")}), allow(sub("git", "log", "status"))},
			[]string{"git log", "cd /w && git log", "cd lib && git log", "git -C lib log -3", "cd lib && cd .. && git status"},
			nil,
			[]string{"cd src && git log", "git -C src log", "cd lib && git status", "cd lib; git log"},
		},
		{
			"groups",
			[]*ruleset.Rule{allow(ruleset.ReadOnlyGit), allow(ruleset.Compilation), allow(ruleset.SafeNpm)},
			[]string{"git status", "git log -3 --stat", "git branch -a", "git stash list", "git config --list", "go build ./...", "cargo check", "tsc --noEmit", "npm ls --all", "npm audit --json"},
			nil,
			[]string{"git branch x", "git branch -D x", "git commit -m x", "git config a b", "git stash", "git tag x", "git log --output=x", "git remote add a b", "go test", "go build -toolexec=x", "npm install", "npm audit fix", "tsc x.ts", "npm test", "yarn list", "pnpm ls"},
		},
	} {
		s := &ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: c.rules}
		for want, lines := range map[ruleset.Outcome][]string{ruleset.Allow: c.allow, ruleset.Deny: c.deny, ruleset.Unknown: c.unknown} {
			for _, line := range lines {
				if d := decide(s, line); d.Outcome != want {
					t.Errorf("%s: %q: %v, want %v (%s: %s)", c.name, line, d.Outcome, want, d.Cause().Text, d.Cause().Why)
				}
			}
		}
	}
}

// TestOperations: operations other than command lines.
func TestOperations(t *testing.T) {
	s := &ruleset.Set{Root: "/w", Rules: []*ruleset.Rule{
		{Outcome: ruleset.Deny, Kinds: []ruleset.Kind{ruleset.Edit}, Matcher: ruleset.Within("/w/.git")},
		{Outcome: ruleset.Allow, Kinds: []ruleset.Kind{ruleset.Read, ruleset.Edit}, Matcher: ruleset.Within("/w")},
		{Outcome: ruleset.Allow, Kinds: []ruleset.Kind{ruleset.Think}},
		{Outcome: ruleset.Allow, Kinds: []ruleset.Kind{ruleset.Fetch}, Matcher: ruleset.Hosts{"example.com", "*.example.org"}},
		{Outcome: ruleset.Allow, Matcher: named("ls")},
	}}
	for _, c := range []struct {
		op   ruleset.Operation
		want ruleset.Outcome
	}{
		{ruleset.Operation{Kind: ruleset.Read, Paths: []string{"/w/a"}}, ruleset.Allow},
		{ruleset.Operation{Kind: ruleset.Read, Dir: "/w", Paths: []string{"a", "b"}}, ruleset.Allow},
		{ruleset.Operation{Kind: ruleset.Read, Paths: []string{"/w/a", "/x"}}, ruleset.Unknown},
		{ruleset.Operation{Kind: ruleset.Read}, ruleset.Unknown},
		{ruleset.Operation{Kind: ruleset.Edit, Paths: []string{"/w/.git/config"}}, ruleset.Deny},
		{ruleset.Operation{Kind: ruleset.Delete, Paths: []string{"/w/a"}}, ruleset.Unknown},
		{ruleset.Operation{Kind: ruleset.Think}, ruleset.Allow},
		{ruleset.Operation{Kind: ruleset.Other}, ruleset.Unknown},
		{ruleset.Operation{Kind: ruleset.Fetch, URL: "https://example.com/x"}, ruleset.Allow},
		{ruleset.Operation{Kind: ruleset.Fetch, URL: "https://a.EXAMPLE.org./x"}, ruleset.Allow},
		{ruleset.Operation{Kind: ruleset.Fetch, URL: "https://example.com@evil.net/x"}, ruleset.Unknown},
		{ruleset.Operation{Kind: ruleset.Fetch, URL: "https://example.org/x"}, ruleset.Unknown},
		{ruleset.Operation{Kind: ruleset.Fetch, URL: "https://badexample.org/x"}, ruleset.Unknown},
		{ruleset.Operation{Kind: ruleset.Fetch, URL: "example.com"}, ruleset.Unknown},
		{ruleset.Operation{Kind: ruleset.Fetch, URL: "file://example.com/etc/passwd"}, ruleset.Unknown},
		{ruleset.Operation{Kind: ruleset.Fetch, URL: "//example.com/x"}, ruleset.Unknown},
	} {
		if d := s.Decide(c.op, workspace); d.Outcome != c.want {
			t.Errorf("%+v: %v, want %v", c.op, d.Outcome, c.want)
		}
	}
}

// TestUnknownHost: without answers about the host nothing that depends on it is allowed.
func TestUnknownHost(t *testing.T) {
	s := &ruleset.Set{Shell: shell.Bash, Rules: []*ruleset.Rule{allow(named("ls")), allow(all{named("cat"), ruleset.Within("/w")})}}
	for _, line := range []string{"ls > x", "cd x && ls", "cat x"} {
		if d := s.Decide(ruleset.Operation{Command: line, Dir: "/w"}, ruleset.Host{}); d.Outcome != ruleset.Unknown {
			t.Errorf("%q: %v", line, d.Outcome)
		}
	}
}

// TestSymlinks: a directory counts by where it leads.
func TestSymlinks(t *testing.T) {
	s := &ruleset.Set{Shell: shell.Bash, Rules: []*ruleset.Rule{allow(all{named("cat"), ruleset.Within("/w")})}}
	h := workspace
	h.Resolve = func(p string) (string, bool) {
		return path.Clean(strings.Replace(p, "/w/link", "/etc", 1)), !strings.Contains(p, "loop")
	}
	for line, want := range map[string]ruleset.Outcome{
		"cat a": ruleset.Allow, "cat link/a": ruleset.Unknown, "cd link && cat a": ruleset.Unknown, "cat link/../a": ruleset.Unknown, "cat -vlink": ruleset.Unknown, "cat --x=link": ruleset.Unknown, "cat a,link": ruleset.Unknown, "cat -v a": ruleset.Allow, "cat loop": ruleset.Unknown,
	} {
		if d := s.Decide(ruleset.Operation{Command: line, Dir: "/w"}, h); d.Outcome != want {
			t.Errorf("%q: %v", line, d.Outcome)
		}
	}
}

// TestSameDirectory: the directory of the operation is the same by whatever path.
func TestSameDirectory(t *testing.T) {
	s := &ruleset.Set{Shell: shell.Bash, Rules: []*ruleset.Rule{allow(named("git"))}}
	h := workspace
	h.Resolve = func(p string) (string, bool) { return path.Clean(strings.Replace(p, "/link", "/w", 1)), true }
	for line, want := range map[string]ruleset.Outcome{
		"cd /w && git status": ruleset.Allow, "cd /w/. && git status": ruleset.Allow, "git status": ruleset.Allow, "cd /w/sub && git status": ruleset.Unknown,
	} {
		if d := s.Decide(ruleset.Operation{Command: line, Dir: "/link"}, h); d.Outcome != want {
			t.Errorf("%q: %v", line, d.Outcome)
		}
	}
	if d := s.Decide(ruleset.Operation{Command: "git status"}, h); d.Outcome != ruleset.Unknown {
		t.Errorf("without a directory: %v", d.Outcome)
	}
}

// TestCheck: examples that fail, rules that never win, and rules for programs that run others.
func TestCheck(t *testing.T) {
	good := allow(named("git"))
	good.Match, good.NotMatch = []string{"git status", "git status > x"}, []string{"git -c a=b status", "ls"}
	bad := deny(sub("git", "push"))
	bad.Match, bad.NotMatch = []string{"git pull"}, []string{"git push"}
	broad := allow(named("python3", "ls"))
	s := &ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{good, bad, broad, allow(ruleset.Prefix{{"sudo"}, {"env", "x"}}), allow(ruleset.Within("/w"))}}
	var got []string
	for _, f := range s.Check() {
		got = append(got, strings.TrimSpace([...]string{"misses", "catches", "idle", "broad"}[f.Flaw]+" "+f.Example+f.Program))
	}
	if want := "misses git pull, catches git push, idle, broad python3, broad sudo, broad"; strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestGroups: every command of a group is allowed by it, and the groups are those that are listed.
func TestGroups(t *testing.T) {
	for group, lines := range map[ruleset.Group]string{
		ruleset.Compilation: "cargo build|cargo b|cargo check|cargo c|cargo clippy|cargo doc|cargo d|go build|go vet|tsc|tsc -b",
		ruleset.ReadOnlyGit: "git status|git diff|git log|git show|git whatchanged|git rev-list HEAD|git diff-tree HEAD|git diff-index HEAD|git diff-files|git blame x|" +
			"git annotate x|git grep x|git ls-files|git ls-tree HEAD|git rev-parse HEAD|git describe|git shortlog HEAD|git show-ref|git merge-base a b|" +
			"git name-rev HEAD|git cat-file -p HEAD|git for-each-ref|git count-objects -v|git cherry|git check-ignore x|git check-attr -a x|" +
			"git stash list|git stash show|git reflog|git reflog show|git remote|git remote -v|git remote get-url origin|git worktree list|git branch|git branch -vv|git tag|git config -l",
		ruleset.SafeNpm: "npm ls|npm list|npm ll|npm la|npm outdated|npm view x|npm info x|npm show x|npm search x|npm ping|npm root|npm prefix|npm why x|npm explain x|" +
			"npm audit",
	} {
		s := &ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{allow(group)}}
		for line := range strings.SplitSeq(lines, "|") {
			if d := decide(s, line); d.Outcome != ruleset.Allow {
				t.Errorf("%s: %q: %v: %s", group, line, d.Outcome, d.Cause().Why)
			}
		}
	}
	if got := strings.Join(ruleset.GroupNames(), " "); got != "compilation read_only_git safe_npm" {
		t.Errorf("found %s", got)
	}
}

func BenchmarkDecide(b *testing.B) {
	s := generous()
	for _, line := range []string{"git status", "cd src && go test -run TestA ./... 2>&1 | tail -20", `find . -name '*.go' -exec grep -l foo {} +`} {
		b.Run(strings.Fields(line)[0], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				decide(s, line)
			}
		})
	}
}

// TestFlagOfOneLetter: an option of one letter that takes several bytes is not taken apart. It was,
// without end, by the number of its bytes.
func TestFlagOfOneLetter(t *testing.T) {
	s := ruleset.Set{Shell: shell.Bash, Rules: []*ruleset.Rule{deny(all{named("p"), flags{"-é"}})}}
	for line, want := range map[string]ruleset.Outcome{"p x": ruleset.Unknown, "p -é": ruleset.Deny} {
		if got := s.Decide(ruleset.Operation{Command: line}, ruleset.Host{}).Outcome; got != want {
			t.Errorf("%s is %s, want %s", line, got, want)
		}
	}
}
