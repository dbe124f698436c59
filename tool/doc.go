// Package tool is for authors of tools that run under accessc: it loads the Context
// that a tool is given, answers what the policy permits, says in its errors what is
// granted instead, and opens files so that what was checked is what is opened.
//
//	ctx, err := tool.Load()
//	if err != nil {
//		log.Fatal(err)
//	}
//	f, err := ctx.Open("src/main.go")
//	var denied *tool.DeniedError
//	if errors.As(err, &denied) {
//		fmt.Println("ask for one of", denied.Granted)
//	}
//
// A path is what a model wrote: relative to the workspace, slash-separated, whatever
// the working directory is. An absolute path and one that leaves the workspace by ".."
// are an *OutsideError before the disk is touched; one that a symlink leads outside is an
// *EscapeError unless an external rule covers it; a *DeniedError says which rule decided.
// Every refusal of the policy is fs.ErrPermission to errors.Is.
//
// The checks answer for the moment in which they are asked. Who acts on a path that was
// checked acts on what stands there by then, so prefer Open, OpenFile, Mkdir and Remove:
// they resolve, decide, and then open the canonical place without following a symlink on
// the way. When the path was changed in between they start over, and end with ErrChanged
// if it never holds still. What they open are files and directories; a pipe, socket or
// device is refused, so that no open waits.
//
// On Linux openat2(2) opens directories (RESOLVE_NO_SYMLINKS, Linux 5.6). Where a kernel
// or a system call filter does not let it through, each component is opened by itself
// with O_NOFOLLOW. Other systems go through os.Root, component by component, and compare
// each directory with what was looked at before; there, the directories on the way must
// be readable. On macOS and Windows, where names differ by case, a path is permitted only
// if it is so in its own spelling and in the folded one; on Windows other names of one
// file (short names, streams, trailing dots) are refused. No system opens without these
// steps; where one fails, the call fails.
//
// What this package does not do: it restricts nothing. A tool can ignore it; accessc exec
// and the kernel hold the policy. The answers are those of the same evaluator. Two things
// are for the kernel alone: a system call may do what a path of a call may not say, such
// as to read /usr by its absolute name, and a move is judged by both of its ends and is
// not offered here.
package tool
