package shell

import (
	"strings"

	"github.com/accessc/accessc/internal/process/once"
)

// shells are programs that run the language of a shell.
func shells() map[string]bool {
	return shellsOnce.Get(func() map[string]bool {
		return map[string]bool{
			"sh": true, "bash": true, "dash": true, "rbash": true, "zsh": true, "ksh": true, "mksh": true,
			"ash": true, "fish": true, "csh": true, "tcsh": true, "pwsh": true, "powershell": true, "nu": true,
		}
	})
}

var shellsOnce once.Value[map[string]bool]

// state are builtins that change the meaning of later commands, or that evaluate their arguments. No
// rule covers them.
func state() map[string]string {
	return stateOnce.Get(func() map[string]string {
		return map[string]string{
			"eval": "its words are code", "source": "runs a file in this shell", ".": "runs a file in this shell",
			"trap": "runs its words later", "alias": "changes the meaning of names",
			"unalias": "changes the meaning of names", "hash": "changes which file a name starts",
			"enable": "loads builtins", "set": "changes the shell", "shopt": "changes the shell",
			"export": "sets variables", "readonly": "sets variables", "declare": "sets variables",
			"typeset": "sets variables", "local": "sets variables", "unset": "evaluates subscripts",
			"read": "sets variables", "mapfile": "runs a callback", "readarray": "runs a callback",
			"getopts": "sets variables", "let": "evaluates arithmetic", "bind": "runs commands at keys",
			"complete": "runs commands", "compgen": "runs commands", "compopt": "changes the shell",
			"fc": "runs commands of the history", "history": "writes files", "jobs": "can run a command",
			"wait": "sets variables", "pushd": "changes the directory", "popd": "changes the directory",
			"cd": "leads to a directory that is not known", "coproc": "runs commands", "suspend": "stops the shell",
			"emulate": "changes the shell", "zmodload": "loads modules", "autoload": "loads functions",
			"print": "evaluates patterns", "vared": "sets variables", "noglob": "changes the meaning of words",
			"logout": "ends the shell", "caller": "is about functions",
		}
	})
}

var stateOnce once.Value[map[string]string]

// wrappers are programs that run the command in their operands, with their harmless options.
func wrappers() []row {
	return []row{
		{names: "env", why: "runs a command with other variables",
			options: "-i --ignore-environment -u= --unset= -0 --null -C@ --chdir@ -v --debug -S! --split-string!",
			entry:   entry{wraps: true, through: true, assigns: true, removes: "-i --ignore-environment -u --unset"}},
		{names: "nice", why: "runs a command at another priority", options: "-n= --adjustment= -#",
			entry: entry{wraps: true, through: true}},
		{names: "nohup", why: "runs a command apart from the terminal", entry: entry{wraps: true, through: true}},
		{names: "setsid", why: "runs a command apart from the terminal", options: "-c --ctty -f --fork -w --wait",
			entry: entry{wraps: true, through: true}},
		{names: "time", why: "measures a command",
			options: "-p --portability -v --verbose -f= --format= -o> --output> -a --append -q --quiet",
			entry:   entry{wraps: true, through: true}},
		{names: "timeout gtimeout", why: "ends a command after a time",
			options: "-s= --signal= -k= --kill-after= --preserve-status --foreground -f -p -v --verbose",
			entry:   entry{wraps: true, through: true, skip: 1}},
		{names: "stdbuf", why: "runs a command with other buffers", options: "-i= --input= -o= --output= -e= --error=",
			entry: entry{wraps: true, through: true}},
		{names: "ionice", why: "runs a command at another priority",
			options: "-c= --class= -n= --classdata= -t --ignore", entry: entry{wraps: true, through: true}},
		{names: "caffeinate", why: "runs a command while the machine is awake", options: "-d -i -m -s -u -t=",
			entry: entry{wraps: true, through: true}},
		{names: "command", why: "runs a program in spite of functions", options: "-v -V -p",
			entry: entry{wraps: true, through: true, asks: "-v -V"}},
		{names: "builtin", why: "runs a builtin in spite of functions", entry: entry{wraps: true, through: true}},
		{names: "exec", why: "runs a program in place of the shell", options: "-c -l",
			entry: entry{wraps: true, through: true, alone: "it changes the descriptors of the shell"}},
		{names: "taskset", why: "runs a command on some processors", options: "-c -a --cpu-list --all-tasks",
			entry: entry{wraps: true, through: true, skip: 1}},
		{names: "chrt", why: "runs a command under another scheduler", options: "-b -f -i -o -r",
			entry: entry{wraps: true, through: true, skip: 1}},
		{names: "sudo", why: "runs a command as another user",
			options: "-n -H -S -k -u= --user= -g= --group= -p= --prompt= --non-interactive",
			entry:   entry{wraps: true, assigns: true, alone: "it runs a shell"}},
		{names: "doas", why: "runs a command as another user", options: "-n -u=",
			entry: entry{wraps: true, alone: "it runs a shell"}},
		{names: "xargs gxargs", why: "runs a command with arguments from its input",
			options: "-0 --null -r --no-run-if-empty -n= --max-args= -P= --max-procs= -L= --max-lines? -s= " +
				"--max-chars= -d= --delimiter= -t --verbose -x --exit -E= -a< --arg-file<",
			entry: entry{wraps: true, appends: true, alone: "it has no command"}},
		{names: "watch", why: "runs a command again and again",
			options: "-n= --interval= -d? --differences? -t --no-title -b --beep -e --errexit -g --chgexit -c --color",
			entry:   entry{wraps: true, joins: true}},
		{names: "flock", why: "runs a command under a lock on a file",
			options: "-s --shared -x --exclusive -n --nonblock -w= --timeout= -o --close -E=",
			entry:   entry{wraps: true, skip: 1}},
		{names: "ccache sccache distcc chronic", why: "runs the command in its arguments", options: "-v -e",
			entry: entry{wraps: true}},
		{names: "busybox toybox", why: "runs an applet", entry: entry{wraps: true}},
	}
}

// writers are programs that write files or start programs by their options.
func writers() []row {
	return []row{
		{names: "find gfind", why: "starts programs and removes files by its expressions", long: true,
			options: "-H -L -P -D= -O? -name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= " +
				"-regextype= -type= -xtype= -size= -mtime= -atime= -ctime= -mmin= -amin= -cmin= -newer= -anewer= " +
				"-cnewer= -newermt= -maxdepth= -mindepth= -depth -d -prune -print -print0 -printf= -ls -empty -perm= " +
				"-user= -group= -uid= -gid= -nouser -nogroup -not -a -and -o -or -true -false -quit -follow -mount " +
				"-xdev -x -links= -inum= -samefile= -readable -writable -executable -noleaf -daystart -lname= " +
				"-ilname= -E -fprint> -fprint0> -fls> -exec% -execdir% -ok% -okdir%"},
		{names: "sort gsort", why: "starts a program to compress, and writes a file",
			options: "-b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z -k= --key= -t= --field-separator= -S= " +
				"--buffer-size= --parallel= -o> --output> --files0-from< --ignore-leading-blanks --dictionary-order " +
				"--ignore-case --general-numeric-sort --numeric-sort --human-numeric-sort --month-sort --random-sort " +
				"--reverse --version-sort --unique --stable --check? --merge --zero-terminated --sort= --debug"},
		{names: "rg", why: "starts programs to read files",
			options: "-i --ignore-case -S --smart-case -s --case-sensitive -v --invert-match -w --word-regexp -x " +
				"--line-regexp -n --line-number -N --no-line-number -c --count --count-matches -l " +
				"--files-with-matches --files-without-match --files -A= --after-context= -B= --before-context= -C= " +
				"--context= -e= --regexp= -f< --file< -g= --glob= --iglob= -t= --type= -T= --type-not= --type-list " +
				"-m= --max-count= -o --only-matching -q --quiet -r= --replace= -u -uu -uuu --unrestricted --hidden " +
				"-. --no-ignore --no-ignore-vcs -L --follow -a --text -U --multiline --multiline-dotall -P --pcre2 " +
				"-F --fixed-strings -H --with-filename -I --no-filename -p --pretty --color= --colors= --column " +
				"--no-column --heading --no-heading --json --stats --sort= --sortr= -j= --threads= --max-depth= -d= " +
				"--max-filesize= --trim --vimgrep -0 --null -M= --max-columns= --passthru --no-messages --no-config " +
				"--crlf --debug -b --byte-offset -E= --encoding="},
		{names: "fd fdfind", why: "starts programs on what it finds",
			options: "-H --hidden -I --no-ignore -u -s --case-sensitive -i --ignore-case -g --glob -F " +
				"--fixed-strings -a --absolute-path -L --follow -p --full-path -d= --max-depth= --min-depth= " +
				"--exact-depth= -t= --type= -e= --extension= -E= --exclude= -c= --color= -0 --print0 -j= --threads= " +
				"-S= --size= --changed-within= --changed-before= -1 -q --quiet --max-results= --prune"},
		{names: "tar", why: "starts programs, writes files, takes them apart, and asks other hosts",
			options: "-t --list -z --gzip -j --bzip2 -J --xz --zstd -v --verbose -f< --file< -p --numeric-owner " +
				"--exclude= -a --auto-compress --strip-components= --wildcards",
			entry: entry{script: plainTar, operands: otherHost}},
		{names: "tree", why: "writes a file", apart: true,
			options: "-a -d -f -L= -P= -I= -i -s -h -p -u -g -D -F -r -t -n -C -J -X -N -q --noreport " +
				"--dirsfirst --filelimit= --prune --gitignore --matchdirs -o>"},
		{names: "uniq", why: "its second operand is an output file",
			options: "-c --count -d --repeated -D -u --unique -i --ignore-case -f= --skip-fields= -s= --skip-chars= " +
				"-w= --check-chars= -z --zero-terminated", entry: entry{last: 1}},
		{names: "file", why: "its options compile and load descriptions",
			options: "-b --brief -i --mime --mime-type --mime-encoding -L --dereference -h --no-dereference -k " +
				"--keep-going -z -s -N --no-pad -0 --print0 -I -p"},
		{names: "date", why: "sets the clock",
			options: "-u --utc -d= --date= -I? --iso-8601? -R --rfc-email --rfc-3339= -r= --reference= -j -v=",
			entry:   entry{operands: func(s string) bool { return s[:min(1, len(s))] != "+" }}},
		{names: "hostname", why: "sets the name of the machine", options: "-f -s -d -i -I --fqdn --short",
			entry: entry{operands: always}},
		{names: "split csplit", why: "starts a program for each piece, and writes files", options: "",
			entry: entry{operands: always}},
		// Only the first letter of an option counts for xxd, so that letters do not combine.
		{names: "xxd", why: "its second operand is an output file", long: true,
			options: "-a -b -c= -e -g= -i -l= -p -ps -s= -u", entry: entry{last: 1}},
		{names: "shuf", why: "writes a file", options: "-e --echo -i= --input-range= -n= --head-count= -r --repeat " +
			"-z -o> --output> --random-source<"},
		{names: "diff", why: "starts a program by its options",
			options: "-u -U= --unified? -c -C= --context? -r --recursive -q --brief -s -w -b -B -i -a --text -N " +
				"--new-file -y --side-by-side -W= --width= -x= --exclude= --color? --stat --no-index -p -e -n -t -d " +
				"--strip-trailing-cr -I="},
		{names: "curl", why: "writes files and reads its configuration from one",
			options: "-s --silent -S --show-error -f --fail -L --location -I --head -i --include -v --verbose -X= " +
				"--request= -H^ --header^ -A= --user-agent= -m= --max-time= --connect-timeout= --retry= --compressed " +
				"-o> --output> -k --insecure -G --get --http1.1 --http2 -4 -6 -N --no-buffer --fail-with-body"},
		{names: "wget", why: "writes files and starts programs by its options",
			options: "-q --quiet -nv -O> --output-document> -S --spider -T= --timeout= -t= --tries=",
			entry:   entry{needs: "-O --output-document --spider"}},
		{names: "test [", why: "a subscript in a variable's name runs commands", long: true,
			options: "-e -f -d -r -w -x -s -L -h -z -n -b -c -p -S -u -g -k -O -G -N -t -eq -ne -lt -le -gt -ge -nt " +
				"-ot -ef -a -o"},
		{names: "printf", why: "sets a variable by its options and by %n", entry: entry{script: plainFormat}},
		{names: "sed gsed", why: "runs commands and writes files by its script",
			options: "-n --quiet --silent -E -r --regexp-extended -s --separate -u -z",
			entry:   entry{script: plainSed, alone: "it has no script"}},
		{names: "awk gawk mawk nawk", why: "runs commands and writes files by its script", options: "-F=",
			entry: entry{script: plainAwk, alone: "it has no script"}},
		{names: "touch", why: "writes its operands", options: "-a -c --no-create -m -d= --date=",
			entry: entry{output: true}},
		{names: "mkdir", why: "writes its operands", options: "-p --parents -v --verbose -m= --mode=",
			entry: entry{output: true}},
		{names: "ln", why: "gives a file another name, which the analysis does not follow", options: "-s -f -n -v -T",
			entry: entry{target: true, operands: always}},
		{names: "rm", why: "deletes its operands",
			options: "-r -R -f -i -I -v -d --recursive --force --interactive? --verbose --dir --one-file-system",
			entry:   entry{inPlace: inPlace{access: Remove}}},
		{names: "rmdir", why: "deletes its operands", options: "-v --verbose --ignore-fail-on-non-empty",
			entry: entry{inPlace: inPlace{access: Remove}}},
		{names: "unlink", why: "deletes its operands", entry: entry{inPlace: inPlace{access: Remove}}},
		{names: "shred", why: "writes its operands",
			options: "-f --force -n= --iterations= -s= --size= -u --remove? -v --verbose -x -z --exact --zero",
			entry:   entry{output: true, inPlace: inPlace{access: Remove, with: "-u --remove"}}},
		{names: "chmod chown chgrp", why: "changes its operands",
			options: "-R --recursive -v --verbose -c --changes -f --silent --quiet -h --no-dereference",
			entry:   entry{inPlace: inPlace{access: Rewrite, deep: "-R --recursive", lead: 1}}},
		// Options for a program that strips files, and for a directory in front of the sources, are not listed.
		{names: "install", why: "starts programs by its options",
			options: "-m= --mode= -o= --owner= -g= --group= -v --verbose -p --preserve-timestamps -C --compare -D " +
				"-T --no-target-directory",
			entry: entry{target: true}},
		// A directory takes its content along, so options for that are not listed. Neither are options that name the
		// target: a file of the source's name is written in it.
		{names: "mv", why: "moves a directory with what is in it",
			options: "-f --force -n --no-clobber -v --verbose -i -u -T --no-target-directory",
			entry: entry{output: true, target: true, operands: dotted,
				inPlace: inPlace{access: Remove, sources: true}}},
		{names: "cp", why: "writes its last operand",
			options: "-p -v -f -n -i -u -L -T --force --no-clobber --verbose --no-target-directory",
			entry:   entry{target: true}},
		{names: "dd", why: "writes a file", long: true, entry: entry{operands: func(s string) bool {
			return !ddOperand.Get().MatchString(s)
		}}},
		{names: "tee", why: "writes its operands", options: "-a --append -i", entry: entry{output: true}},
		{names: "truncate", why: "writes its operands", options: "-s= --size= -c --no-create",
			entry: entry{output: true}},
		{names: "mkfifo", why: "writes its operands", options: "-m= --mode=", entry: entry{output: true}},
		{names: "mktemp", why: "writes its operands", options: "-d --directory -q --quiet -u --dry-run -t",
			entry: entry{output: true}},
		{names: "dos2unix unix2dos", why: "writes its operands", options: "-q --quiet -k --keepdate",
			entry: entry{output: true}},
		// The name within a file counts with -N, so that is not listed.
		{names: "gzip gunzip pigz unpigz", why: "writes a file beside each operand", options: packs + " -n --no-name",
			entry: entry{output: true, packs: ".gz"}},
		{names: "bzip2 bunzip2", why: "writes a file beside each operand", options: packs,
			entry: entry{output: true, packs: ".bz2"}},
		{names: "xz unxz", why: "writes a file beside each operand", options: packs + " -T= --threads= -e --extreme",
			entry: entry{output: true, packs: ".xz"}},
		{names: "base64", why: "writes a file by its options",
			options: "-d -D --decode -i --ignore-garbage -w= --wrap= -b="},
		{names: "iconv", why: "writes a file by its options",
			options: "-f= --from-code= -t= --to-code= -c -l --list -s --silent -o> --output>"},
		{names: "yq", why: "writes files by its options",
			options: "-r --raw-output -o= --output-format= -p= --input-format= -P --prettyPrint -e --exit-status -N " +
				"--no-doc -M --no-colors -C --colors -n --null-input -y -Y -j -c -S"},
		{names: "xmllint", why: "writes files, and reads commands, by its options",
			options: "--noout --format --xpath= --valid --nonet --schema< --html --huge --recover"},
		{names: "ss", why: "ends connections, and writes a file, by its options",
			options: "-t -u -l -n -p -a -s -4 -6 -x -o -e -m -i -r -w -H"},
		{names: "lsof", why: "writes a file by its options", options: "-i? -n -P -p= -t -u= -c= -a -l -R -U -w"},
		{names: "top", why: "runs commands by its keys", options: "-b -n= -p= -d= -u= -o= -H -c -i -l= -s= -w?"},
		{names: "dmesg", why: "starts a pager by its options",
			options: "-T --ctime -w --follow -l= --level= -f= --facility= -x --decode -k --kernel -u --userspace -t " +
				"-L? --color? --nopager"},
		{names: "nslookup", why: "reads commands", long: true, options: "-type= -query= -timeout= -debug",
			entry: entry{alone: "it reads commands"}},
		{names: "zstdcat", why: "writes a file by its options", options: "-q -v -f -l -t"},
		{names: "getconf", why: "starts a program by its options", options: "-a"},
		{names: "tput", why: "starts the program that a terminal's description names",
			entry: entry{operands: func(s string) bool {
				return s == "init" || s == "reset" || strings.HasPrefix(s, "rs") || strings.HasPrefix(s, "i")
			}}},
		{names: "arch", why: "runs a command, on some systems", entry: entry{operands: always}},
		{names: "clang-format", why: "reads further files by its options", long: true,
			options: "-i -n --dry-run --Werror -verbose --verbose -style= --style=",
			entry:   entry{operands: given, inPlace: inPlace{access: Rewrite, with: "-i"}}},
		{names: "tokei cloc scc", why: "starts programs, and writes files, by its options", whole: true,
			options: "-f --files -e= --exclude= --exclude-dir= --include-lang= --by-file -C --compact --no-cocomo " +
				"--sort="},
	}
}

// packs are the options of programs that pack a file.
const packs = "-c --stdout -d --decompress -z --compress -k --keep -f --force -l --list -t --test -v --verbose -q " +
	"--quiet -# --fast --best"
