package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once"
	"github.com/accessc/accessc/internal/process/once/expression"
)

// acting are programs that act by themselves, whatever their arguments: they start no other program, and write no file
// that no rule has seen. A program that stands in no table is a starter, so this list is closed: none of them has an
// option that loads, writes or runs something.
func acting() map[string]bool {
	return actingOnce.Get(func() map[string]bool {
		out := map[string]bool{}
		for _, names := range []string{
			// Builtins of shells.
			": true false echo pwd type exit return break continue shift times umask ulimit dirs bg fg disown kill",
			// Files and their text.
			"ls dir vdir exa eza lsd cat tac head tail wc cut tr paste join comm fold fmt expand unexpand nl od pr " +
				"tsort rev column hexdump strings cmp seq yes factor numfmt grep egrep fgrep zcat bzcat xzcat lzcat " +
				"jq gojq basename dirname realpath readlink pathchk stat df du namei lsattr getfacl findmnt " +
				"mountpoint look",
			"sum cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum md5 shasum base32 readelf size " +
				"addr2line c++filt",
			"sync",
			// The machine and its processes.
			"whoami id groups users who w last uptime uname nproc logname hostid tty printenv locale getent cal ncal " +
				"expr sleep which whereis clear ps pstree pgrep pidof killall pkill free vmstat iostat mpstat lscpu " +
				"lsblk lsusb lspci lsmod sw_vers lsb_release ping dig host netstat traceroute",
		} {
			for name := range strings.FieldsSeq(names) {
				out[name] = true
			}
		}
		return out
	})
}

var actingOnce once.Value[map[string]bool]

// system are the directories of the system's programs. A file of the same name elsewhere is another program.
var system = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"}

// elsewhere reports whether a name names a file outside of the system's directories.
func elsewhere(name string) bool {
	return strings.Contains(name, "/") && !slices.Contains(system, path.Dir(name))
}

// evaluating are builtins that some shells let evaluate an operand which is no number: mksh and ksh run $(evil) in
// a[$(evil)].
var evaluating = []string{"exit", "return", "break", "continue", "shift", "ulimit"}

// comparisons are the operators of test whose operands are numbers.
var comparisons = []string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}

// letters are options of ulimit.
var letters = expression.Once{Text: `^-[A-Za-z]+$`}

// arithmetic adds the doubts about operands that sh may evaluate, whichever shell that is: both sides of a comparison,
// and the words behind the format of printf unless it only prints texts.
func arithmetic(p *Part, name string) {
	doubt := func(i int) {
		if i > 0 && i < len(p.Words) && !number(p.Words[i]) {
			p.doubt(Always, "some shells evaluate an operand that is no number, and run commands in it")
		}
	}
	switch {
	case slices.Contains(evaluating, name):
		for i := 1; i < len(p.Words); i++ {
			if name != "ulimit" || !letters.Get().MatchString(p.Words[i].Text) {
				doubt(i)
			}
		}
	case name == "test" || name == "[":
		for i, w := range p.Words {
			switch {
			case slices.Contains(comparisons, w.Text):
				doubt(i - 1)
				doubt(i + 1)
			case w.Is("-t") && i+1 < len(p.Words) && !p.Words[i+1].Is("]"):
				doubt(i + 1)
			}
		}
	case name == "printf" && len(p.Words) > 1 && !textFormat(p.Words[1].Text):
		for i := range p.Words[2:] {
			doubt(i + 2)
		}
	}
}

// number reports whether a word is a whole number.
func number(w Word) bool {
	digits := strings.TrimLeft(w.Text, "+-")
	return w.Form == Literal && len(w.Text)-len(digits) < 2 && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// textFormat reports whether a format of printf takes its arguments for texts.
func textFormat(s string) bool {
	for rest := s; ; {
		_, behind, found := strings.Cut(rest, "%")
		if !found {
			return true
		}
		behind = strings.TrimLeft(behind, "-0123456789.")
		if behind == "" || !strings.ContainsRune("%sbcq", rune(behind[0])) {
			return false
		}
		rest = behind[1:]
	}
}
