package start

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/sys/windows"
)

// looks opens a path with the rights of a number.
func looks(a []string) error { return opens(preparation{path: a[0], access: uint32(number(a[1]))}) }

func makesPipe(a []string) error {
	name, err := windows.UTF16PtrFromString(a[0])
	if err != nil {
		return err
	}
	h, err := windows.CreateNamedPipe(name, windows.PIPE_ACCESS_DUPLEX, windows.PIPE_TYPE_BYTE, 1, 512, 512, 0, nil)
	if err != nil {
		return err
	}
	return windows.CloseHandle(h)
}

// attaches leaves the tool's console for that of a process.
func attaches(a []string) error {
	_, _, _ = kernel32.NewProc("FreeConsole").Call()
	if r, _, err := kernel32.NewProc("AttachConsole").Call(uintptr(number(a[0]))); r == 0 {
		return err
	}
	return nil
}

// breaks sends Ctrl+Break to every process of the tool's console, itself left out.
func breaks([]string) error {
	signal.Ignore(os.Interrupt)
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, 0)
}

// consoleCase: the tool cannot attach to the console of its loader, and its events do not come there.
func consoleCase(p *place) {
	f, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		p.t.Skip("this process has no console, so that nothing can be shown: ", err)
	}
	_ = f.Close()
	p.want(false, p.contained(nil, nil, "try", "attach", fmt.Sprint(os.Getpid())), "attaching")
	got := make(chan os.Signal, 1)
	signal.Notify(got, os.Interrupt)
	defer signal.Stop(got)
	p.t.Logf("the event: %+v", p.contained(nil, nil, "try", "break"))
	select {
	case <-got:
		p.t.Error("an event of the tool's console came here")
	case <-time.After(time.Second):
	}
}

// preparationCase: a tool is refused exactly the places that doctor says are still to be prepared on the host.
func preparationCase(p *place) {
	all := preparations(p.workspace, os.Getenv("PATH"))
	refused, err := missing(all)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, one := range all {
		is := false
		for _, r := range refused {
			is = is || r.path == one.path
		}
		p.t.Logf("%s refused: %v", one.path, is)
		p.want(!is, p.contained(nil, nil, "try", "look", one.path, fmt.Sprint(one.access)), one.path)
	}
}

// childPipesCase: a named pipe can be made in the container's own part of the names alone.
func childPipesCase(p *place) {
	name := fmt.Sprintf("accessc-%d", os.Getpid())
	p.want(false, p.contained(nil, nil, "try", "pipe", `\\.\pipe\`+name), "a pipe")
	p.want(true, p.contained(nil, nil, "try", "pipe", strings.Join([]string{`\\.\pipe\LOCAL`, name}, `\`)), "a pipe of its own")
}
