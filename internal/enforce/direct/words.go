package direct

import (
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/text/usage"
)

// A Stream is the value of a flag that names a file, of which "-" is a standard stream.
type Stream string

// Words reads the flags before a tool, its name, and the arguments behind "--", as the parser of accessc reads them.
// flag is where the value of a flag goes (a *bool, *string, *Stream or *[]string), nil for a flag that there is not.
func Words(args []string, flag func(name string) any) (tool string, rest []string, err error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		to := flag(name)
		if to == nil {
			return "", nil, usage.Errorf("there is no flag %s before the tool", name)
		}
		if is, ok := to.(*bool); ok {
			if *is = true; joined {
				return "", nil, usage.Errorf("%s takes no value", name)
			}
			continue
		}
		if !joined && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		_, stream := to.(*Stream)
		is := value != "" && (value[0] != '-' || stream && value == "-")
		if !is || joined && !strings.HasPrefix(name, "--") {
			return "", nil, usage.Errorf("%s needs a value", name)
		}
		switch to := to.(type) {
		case *string:
			*to = value
		case *Stream:
			*to = Stream(value)
		case *[]string:
			*to = append(*to, value)
		}
	}
	switch {
	case len(args) == 0 || args[0] == "":
		return "", nil, usage.Errorf("name the tool")
	case len(args) == 1:
		return args[0], nil, nil
	case args[1] != "--":
		return "", nil, usage.Errorf("after the tool %s stand only -- and its arguments, not %s", args[0], args[1])
	}
	return args[0], args[2:], nil
}

// Parse reads the command line of a start from an artifact:
//
//	--artifact FILE [--sha256 HEX [--in-container]] [-C DIR] [--accept GAP]... [--arguments JSON | --call FILE]
//		[--report FILE] [--no-summary] TOOL [-- ARG...]
func Parse(args []string) (a Artifact, err error) {
	a.Tool, a.Args, err = Words(args, func(name string) any {
		switch name {
		case "--artifact":
			return &a.File
		case "--sha256":
			return &a.Sum
		case "--in-container":
			return &a.Contained
		case "-C", "--dir":
			return &a.Root
		case "--accept":
			return &a.Accept
		case "--arguments":
			return &a.Arguments
		case "--call":
			return (*Stream)(&a.Call)
		case "--report":
			return (*Stream)(&a.Report)
		case "--no-summary":
			return &a.Quiet
		}
		return nil
	})
	switch {
	case err != nil:
		return a, err
	case a.File == "":
		return a, usage.Errorf("--artifact names the artifact of the tool; accessc build --resolve writes it")
	case a.Report != "" && !start.Observes:
		return a, usage.Errorf("--report is for Linux: here accessc becomes the tool and sees nothing of it")
	case a.Root != "":
		if a.Root, err = filepath.Abs(a.Root); err != nil {
			return a, usage.Errorf("-C: %w", err)
		}
	}
	return a, CheckAccept(a.Accept)
}
