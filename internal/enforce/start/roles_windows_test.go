package start

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// roles are the parts of this program as a tool, with the words that follow. The result is its
// exit status.
var roles map[string]func(args []string) int

// A composite literal would be an initialisation loop: some roles start others.
func init() {
	roles = map[string]func([]string) int{
		"exit": func(args []string) int { return number(args[0]) },
		"env": func([]string) int {
			env := os.Environ()
			slices.Sort(env)
			fmt.Println(strings.Join(env, "\n"))
			return 0
		},
		"args": func(args []string) int {
			fmt.Printf("%q\n", args)
			return 0
		},
		"where": func([]string) int {
			wd, err := os.Getwd()
			fmt.Println(wd, err)
			return 0
		},
		"read": func(args []string) int {
			data, err := os.ReadFile(os.ExpandEnv(args[0]))
			fmt.Println(string(data), err)
			return 0
		},
		"write": func(args []string) int {
			if err := os.WriteFile(args[0], []byte(args[1]), 0o644); err != nil {
				fmt.Println(err)
				return 1
			}
			return 0
		},
		"stay":     func([]string) int { stay(); return 0 },
		"later":    later,
		"spawn":    spawn,
		"token":    tokenRole,
		"handle":   handleRole,
		"converse": converse, "mutter": mutter, "within": within, nestRole: nest, "standing": standRole,
		loaderRole: loader, "try": try, "wait": waitAndTry,
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// stay waits for the end of this process.
func stay() { _, _ = windows.WaitForSingleObject(windows.CurrentProcess(), windows.INFINITE) }

// later writes a file when the process that has spawned it is gone.
func later(args []string) int {
	_, _ = io.Copy(io.Discard, os.Stdin)
	return roles["write"](args)
}

// spawn starts itself in another role, with creation flags and an input that lasts as long as this process, prints the
// child's number or why there is none, and then stays or ends: FLAGS stays|ends ROLE ARG...
func spawn(args []string) int {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe, append([]string{roleCommand}, args[2:]...)...)
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: uint32(number(args[0]))}
	input, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		fmt.Println("refused:", err)
	} else {
		fmt.Println("child", cmd.Process.Pid)
	}
	if args[1] == "stays" {
		stay()
	}
	runtime.KeepAlive(input)
	return 0
}

// tokenRole prints the contents of its token.
func tokenRole([]string) int {
	t := windows.GetCurrentProcessToken()
	groups, err := enabled(t, []string{"S-1-5-32-544"})
	fmt.Println("enabled", groups, err)
	n, err := privileges(t)
	fmt.Println("privileges", n, err)
	level, err := integrity(t)
	fmt.Println("integrity", level, err)
	return 0
}

// handleRole reports whether it has a handle, and the three standard ones.
func handleRole(args []string) int {
	fmt.Println("given", windows.SetEvent(windows.Handle(number(args[0]))) == nil)
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		_, err := windows.GetFileType(windows.Handle(f.Fd()))
		fmt.Println(f.Name(), err == nil)
	}
	return 0
}

// loader starts a tool in an existing place, as accessc does.
func loader(args []string) int {
	p := &place{t: &testing.T{}, at: args[0], workspace: args[0] + `\ws`, home: args[0] + `\home`, journals: journals{args[0] + `\journal`}}
	status, err := p.run(p.spec(nil), "spawn", "0", "stays", "stay").do()
	fmt.Println(status, err)
	return int(status)
}
