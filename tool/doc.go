// Package tool is for authors of tools that run under accessc: it loads the policy of a tool from
// the Context that the tool is given, answers whether the policy permits an operation, lists the
// granted alternatives in its errors, and opens exactly the files that it checked.
//
//	policy, err := tool.Load()
//	if err != nil {
//		log.Fatal(err)
//	}
//	f, err := policy.Open("src/main.go")
//	var denied *tool.DeniedError
//	if errors.As(err, &denied) {
//		fmt.Println("ask for one of", denied.Granted)
//	}
//
// A path is written by a model: relative to the workspace, slash-separated, whatever the
// working directory is. An absolute path and a path that leaves the workspace by ".." are an
// *OutsideError before the disk is touched; a path that a symlink leads outside is an *EscapeError
// unless an external rule covers it; a *DeniedError names the rule that decided. Every refusal
// of the policy is fs.ErrPermission to errors.Is.
//
// The checks answer for the moment in which they are called. A path that was checked may be
// another file by the time it is used, so prefer Open, OpenFile, Mkdir and Remove: they
// resolve, decide, and then open the canonical place without following a symlink on the way.
// When the path was changed in between they start over, and end with ErrChanged if it keeps
// changing. They open files and directories only; a pipe, socket or device is refused, so that
// no open waits.
//
// On Linux openat2(2) opens directories (RESOLVE_NO_SYMLINKS, Linux 5.6). Where a kernel or a
// system call filter does not let it through, each component is opened by itself with
// O_NOFOLLOW. Other systems use os.Root, component by component, and compare each directory with the directory checked
// before; there, the directories on the way must be readable. On macOS and Windows, where names differ by case, a path
// is permitted only if it is so in its own spelling and in the folded spelling; on Windows other names of one file
// (short names, streams, trailing dots) are refused. No system opens without these steps; where one fails, the call
// fails.
//
// The package restricts nothing. A tool can ignore it; accessc exec and the kernel enforce the
// policy, and the answers here come from the same evaluator. Two questions are left to the
// kernel: a system call may use paths that a call of a tool may not, such as to read /usr by
// its absolute name, and a move is judged by both of its ends and is not offered here.
// See decision D86.
package tool
