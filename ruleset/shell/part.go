package shell

import "math"

// Kind is the kind of a part.
type Kind uint8

// The kinds of part.
const (
	// Group is a part that does no more than its own parts: a list, a pipeline.
	Group Kind = iota
	// Program is the start of a program, or a builtin of the shell.
	Program
	// File is a file that is opened by a redirection or by an option of a program.
	File
	// Change changes the working directory of the parts behind it.
	Change
	// Opaque is a part that the analysis does not see through. Its own parts are the parts that are visible inside.
	Opaque
)

// Access is how a file is opened.
type Access uint8

// The accesses.
const (
	// Read opens a file that exists.
	Read Access = iota
	// Write creates a file, or changes a file that exists.
	Write
	// ReadWrite is both.
	ReadWrite
	// Rewrite changes the file of a name, if it names a file. A directory is for its files of the kind that the program
	// is about.
	Rewrite
	// Replace changes the file of a name, or all files below it.
	Replace
	// Remove deletes a name, and all below it. A link at the end of the name is not followed.
	Remove
	// Clear deletes all names below a directory.
	Clear
	// Perhaps changes the file of a name, for a program of which it is not known whether it writes its operands.
	Perhaps
	// PerhapsNew also creates the file.
	PerhapsNew
)

// String returns the verb of the access.
func (a Access) String() string {
	return [...]string{
		"read", "write", "read and write", "rewrite", "replace", "remove", "clear", "perhaps change", "perhaps write",
	}[a]
}

// Part is a piece of a command line.
type Part struct {
	Kind Kind   // what the piece is
	Text string // as written, or put together for a command inside of another
	// Why is the reason why an opaque part cannot be seen through.
	Why string
	// Words are the words of a program, its name included.
	Words []Word
	// Doubts are the reasons for which a rule that does not spell out certain words of a program
	// does not cover it.
	Doubts []Doubt
	// First is the index of the first word of a program that is neither an option that its table knows nor the value of
	// such an option. Known is false where an option before it is not known.
	First int
	Known bool
	// Through is true for a program that only runs the command in its further words, such as nice.
	Through bool
	// Obeys is true for a program that starts others if the configuration of its directory says so.
	Obeys bool
	// CodeOnInput is true for a program that runs the code on its standard input.
	CodeOnInput bool
	// CodeInWords is true for a program whose words are code in a language that is not read here.
	CodeInWords bool
	// Fed is true for a program whose standard input is a pipe, or redirected.
	Fed bool
	// Values are the indices of the words that are values of options, and of no importance.
	Values []int
	// Assigned are the values of the variables that are set, for only the program or by an opaque part.
	Assigned []Word
	// Names are the names of those variables.
	Names []string
	// Seen is true for an opaque part that runs only its own parts.
	Seen bool
	// Also is the same start by another name: git-push is git push. Nil for most programs.
	Also *Part
	// ToShell is true for a program whose output is run as code.
	ToShell bool
	// Dirs are the directories in which a program may be started, or to which Change may lead. Nil
	// means that they are not known.
	Dirs []string
	// Access and Path belong to a file. A relative path begins with the working directory; it
	// may contain "..", which counts after symlinks are followed.
	Access Access
	Path   string
	// From is the index of the word of the program around this part that begins it. A rule that
	// spells out that word has named this part.
	From int
	// Outer is true for a command whose words are in doubt for the program around it, too: where a rule spells out its
	// name, they count only there.
	Outer bool
	// Inside is true for a part that is inside of that word, which is code.
	Inside bool
	// Parts are the parts inside.
	Parts []*Part
}

// Doubt is a reason for which a program is not covered by a rule that does not spell out one of
// its words.
type Doubt struct {
	Word int    // index of the word; Always where no rule can spell it out
	Why  string // the reason
}

// Always is the word of a doubt that no rule removes.
const Always = math.MaxInt

func (p *Part) doubt(word int, why string) { p.Doubts = append(p.Doubts, Doubt{word, why}) }

func (p *Part) add(parts ...*Part) { p.Parts = append(p.Parts, parts...) }

// Each calls f for the part and all parts inside of it.
func (p *Part) Each(f func(*Part)) {
	f(p)
	for _, q := range p.Parts {
		q.Each(f)
	}
}

// feedsShell marks every program of a part as a program whose output is run as code.
func (p *Part) feedsShell() {
	p.Each(func(q *Part) { q.ToShell = true })
}

// feeds marks every program of a part as a program that reads what the line gives it.
func (p *Part) feeds() {
	p.Each(func(q *Part) { q.Fed = true })
}

// interprets reports whether some program of a part is an interpreter.
func (p *Part) interprets() bool {
	found := false
	p.Each(func(q *Part) { found = found || len(q.Words) > 0 && runsWords(q.Words[0]) })
	return found
}

// runsInput reports whether some program of a part runs the code that it reads.
func (p *Part) runsInput() bool {
	found := false
	p.Each(func(q *Part) { found = found || q.CodeOnInput })
	return found
}

// Each returns the accesses that an access consists of.
func (a Access) Each() []Access {
	if a == ReadWrite {
		return []Access{Read, Write}
	}
	return []Access{a}
}
