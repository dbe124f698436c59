//go:build unix

package ruleset_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// tools are real programs that lines start. They run commands and write files only by their arguments; they may read
// any file.
var tools = strings.Fields("env nice timeout stdbuf setsid nohup ionice find xargs sort uniq tee sed awk cat head tail wc tr cut seq")

// tokens are the parts of random lines. None of them begins an absolute path. A line feed at the beginning of a token
// is left out, a line feed at the end stays.
var tokens = strings.Split(strings.Join([]string{
	` | | | |p|p|q|evil|evil|a|b|d|x|1|2|=|$|$|${|}|$(|)|(|` + "`" + `|\|\\|` + "\n" + `|'|'|"|"|$'|$"|@P|:-|#| #|;|;|&|&&`,
	`|{|}|{ |; }|[|]|*|?|~|!|<<|<<-|<<<| <<E` + "\nx\nE\n" + `|E|<(|>(|$((|))|((|[[|]]|-|--|,|..|%|^|+|@(|a=|a=b |if |; then |; fi|for i in |; do |; done`,
	`case |esac|;;|time |coproc |function |() | >a| > b| >>a| 2>&1| >&2| &>b| <a| < b| <>a| >|>a| 3>b| 12>b|&-|cd d|cd d && |cd d; |(cd d) | cd .. `,
	`command p |exec p |exec |eval |eval 'p a'|eval "evil"|builtin |p a |q b |sh -c 'p'|bash -c 'q a'|sh -c "|export |set -|trap 'evil' |alias p=evil|unset `,
	`. a|source a|p(){ evil; }|é|\'|\"|\$|\` + "`" + `|\ |\x41|{p,evil}|{a,b}|"$(evil)"|'$(evil)'|$(evil)|` + "`evil`" + `|true |false |wait|read a|printf |echo |test |[ a ]|[ -v 'a[$(evil)]' ]`,
	// Here-documents, with ends that shells look for in different ways.
	` <<'E'` + "\n$(evil)\nE\n" + `| <<"E"` + "\n`evil`\nE\n" + `| <<\E` + "\n$(evil)\nE\n" + `| <<E` + "\n\\$(evil)\nE\n" + `| <<-E` + "\nx\nE\n" + `| <<E <<F` + "\n1\nE\n2\nF\n" + `|E` + "\n" + `|E F|` + "\nE" + `|<<'E F'|<<E;|<<''` + "\n\n",
	`<<<a|<<<'$(evil)'|<<< "|&>>b|>&b|<&a|0<a|1>&2-|3>&1|3>&-|0<&-|9<a|<&3|{x}>b|>(evil)|<(evil)|>b >d/c|<a <d/c|>d/b`,
	// Arithmetic, patterns, alternatives, tildes, history.
	`$((1+1))|$[1+1]|$((a[$(evil)]))|((x=1))|let x=1 |@(a)|!(a)|+(a)|?(a)|[[:alpha:]]|[!a]|[^a]|[a-z]|**|{1..3}|{a..c}|{,}|{a,{b,x}}|{a}|{"a",b}|{a,b\,x}|~root|~+|~-|=~|a=~|!!|!p|!$|^p^evil`,
	`$"p"|$'p'|$'\x70'|$'a\'b'|"$'p'"|'\''|"\\"|"\"|""|''|"a"'b'c|\a|p\ evil|"p` + "\n" + `evil"|'p` + "\n" + `evil'|a#b|# evil|#` + "\n" + `|;#|"#"|$#|\#| #\|p \#|` + "a\\\nb",
	// Reserved words and constructs in odd places.
	` if| then| do| done| fi| {| }| !| time| in|if p; then evil; fi|while p; do evil; done|until p; do break; done|select x in a; do evil; done|for ((;;)); do evil; done|case a in a) evil;; esac|case a in *) ;& esac`,
	`function p { evil; }|p () (evil)|coproc p|coproc x { evil; }|[[ a == a ]]|[[ a =~ $(evil) ]]|[[ -v a ]]|[[ a < b ]]|time -p p|! p|! ! p|time ! p|{p;}|{ p;}|(p)|(p;evil)|((p))|( (p) )|$( p )`,
	// Builtins that change the shell, and programs that run others.
	`alias q=evil` + "\n" + `q |alias p='evil ';|unalias p|hash -p evil p|enable -n p|set -f|set -e|set -- a|shopt -s extglob` + "\n" + `|trap evil EXIT|trap - 0|declare x=1|local x|readonly x|readarray -C evil -c 1 x <a|mapfile x <a`,
	`exec 3>b|exec >b|exec -a x p|command -v p|command -p p|command -- p|builtin echo |builtin eval p|return|exit|break|continue|shift|times|umask 0|ulimit -f 1|type p|getopts a b|wait %1|jobs -x evil|fc -s|kill -0 1|bg|fg|dirs|pushd d|popd|:|let`,
	` é|ü|` + "\u00a0|\u2003|\u200b|\u3000|\r|\r\n|\t|\v|\f|\x00|\x01|\x7f|\u0085|\ufeff|\u202e|\xff|\xc3|\xa0" + `|${x}|${#x}|${!x}|${x:=a}|"${x@P}"|$@|"$*"|$?|$$|$!|$_|$0|$-|$1|${x/a/b}|${x[$(evil)]}`,
	strings.Repeat("a", 5000), strings.Repeat(" ", 3000) + "p", strings.Repeat("(", 40), strings.Repeat("p;", 9), strings.Repeat("p&&", 9) + "p",
}, "|"), "|")

// pieces are whole commands, most of which are allowed.
var pieces = strings.Split(`p|q|p a|p "a b" 'c d'|q -x --y=z|echo a|printf '%s\n' a|true|false|[ -f a ]|test a = b|: |p *|p d/*|p ~|p {a,b}|p a{1,2}|q '*' "?"|p \*|p a#b|p '#'|p "$" '$x'|p \$x|p '`+"`evil`"+`'`+
	`|p <a|p >b|p >>b|p 2>b|p &>b|p 2>&1|p >/dev/null|p <>b|p >b 2>&1 <a|q <d/c|p >\|b|p <<E`+"\nx y\nE\n"+`|p <<'E'`+"\n$(evil)\nE\n"+`|p <<"E"; q`+"\n'\nE\n"+`|p <<<'x y'|p <<E \| q`+"\n\"\nE\n"+
	`|cd d|cd ./d|cd "d"|cd d/..|cd .|cd -- d|(p)|(p; q)|{ p; }|{ p; q; }|! p|time p|p &|p \| q|p && q|p \|\| q|p; q|(cd d; p >b)|(cd d && p) <a|{ p; q; } >b|p \|& q`, "|")

// starters are commands that start real programs, which takes longer.
var starters = strings.Split(`sh -c p|sh -c 'p a; q b'|bash -c 'p "a b"'|bash -c 'p >b'|sh -c 'cd d && p >b'|bash -c "p '#' \"x\""|sh -ec 'p'|bash -c p a b|bash -c 'bash -c "p a"'|sh -c 'p <<E`+"\nx\nE\n'"+
	`|command p a|command -v p|exec p a|builtin echo a|env p a|env -i p|nice p a|nice -n 5 p|timeout 5 p a|timeout -k 1 5 p|stdbuf -oL p|setsid p|nohup p|ionice -c 3 p|nice timeout 5 env p a|env -u X p|env -C d p|env -S 'p a'|env - p|nice -5 p`+
	`|find . -name a|find . -exec p {} \;|find . -type f -exec p a {} +|find d -execdir p {} \;|find . -ok p {} \;|find . -maxdepth 1 -print|xargs p|p \| xargs -n 1 p|xargs -0 p <a|xargs -a a p|xargs -I{} p {}|find . -print0 \| xargs -0 p`+
	`|sort a|sort -u a|sort -o b a|sort -uo b a|sort --output=b a|sort -k 1 -t x a|tee b|p \| tee b d/b|tee -a b <a|uniq a|uniq -c a|uniq a b|sed -n 1p a|sed s/a/b/ a|sed 's/a/evil/e' a|sed 'w b' a|sed -n '1w b' a|sed '1e evil' a|sed -i s/a/b/ a|sed 's/e/x/w b' a`+
	`|awk '{print $1}' a|awk 'NR==1' a|awk '{print > "b"}' a|awk 'BEGIN{system("evil")}'|cat a|cat - <a|head -1 a|tail -n 1 a|wc -l a|tr a b <a|cut -c 1 a|seq 3|cat a \| sh|cat <a \| bash -s|echo evil \| sh|printf 'evil x' \| sh -s|sh <a|sh a|bash ./a`, "|")

// joints stand between pieces.
var joints = []string{"; ", " && ", " || ", " | ", "\n", " & ", ";", "&&", "|", "&", " |& ", "; ! ", " && time ", "\n\n", " # x\n", " #\n", ";\n", " &\n"}

// randomLine is a line that is allowed with a good chance: commands with a mutation here and there, or an allowed
// program with random tokens behind. A program that no list has would be allowed only without arguments.
func randomLine(r *rand.Rand) string {
	return recorder.ReplaceAllStringFunc(drawnLine(r), func(s string) string {
		return s[:len(s)-1] + map[byte]string{'p': "w", 'q': "id"}[s[len(s)-1]]
	})
}

// recorder finds the short names of the recorders, which are no letters of options or of longer words.
var recorder = regexp.MustCompile(`(^|[^-.\w\\$@é])[pq]\b`)

func drawnLine(r *rand.Rand) string {
	if r.IntN(2) == 0 {
		return mutated(r, composed(r))
	}
	var b strings.Builder
	b.WriteString(pick(r, "p ", "p ", "p a ", "p a ", "q ", "q ", "cd d && p ", "cd d && p ", "p | q ", "p | q ", "{ p; } ", "(p; q", "env p ", "sh -c 'p ", "sort ", "find . -exec p "))
	for range 1 + r.IntN(7) {
		b.WriteString(strings.TrimPrefix(pick(r, tokens...), "\n"))
		if r.IntN(3) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// piece is one command of a list that "|" separates; \| in it stands for that character.
func piece(r *rand.Rand) string {
	from := pieces
	if r.IntN(5) == 0 {
		from = starters
	}
	return strings.ReplaceAll(pick(r, from...), `\|`, "|")
}

// composed joins commands, and puts some of them into others.
func composed(r *rand.Rand) string {
	line := piece(r)
	for range r.IntN(4) {
		line += pick(r, joints...) + piece(r)
	}
	switch r.IntN(12) {
	case 0:
		return "(" + line + ")"
	case 1:
		return "{ " + line + "; }"
	case 2:
		return "bash -c " + quoted(line)
	case 3:
		return `sh -c "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(line) + `"`
	case 4:
		return pick(r, "env ", "nice ", "timeout 9 ", "command ", "time ", "! ", "exec ", "nohup ", "stdbuf -o0 ", "xargs ") + line
	}
	return line
}

// mutated changes a line in up to two places.
func mutated(r *rand.Rand, line string) string {
	for range r.IntN(3) {
		at := r.IntN(len(line) + 1)
		end := min(len(line), at+r.IntN(3))
		switch r.IntN(4) {
		case 0:
			line = line[:at] + pick(r, tokens...) + line[at:]
		case 1:
			line = line[:at] + line[end:]
		case 2:
			line = line[:at] + pick(r, tokens...) + line[end:]
		case 3:
			line = line[:end] + line[at:]
		}
	}
	return line
}
