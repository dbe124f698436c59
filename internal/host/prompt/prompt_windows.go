package prompt

import (
	"os"

	"golang.org/x/sys/windows"
)

var consoleWindow = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleWindow")

// open opens the console. A console without a window, as CREATE_NO_WINDOW makes it, has no user
// (https://learn.microsoft.com/windows/console/getconsolewindow).
func open() (*Terminal, error) {
	if window, _, _ := consoleWindow.Call(); window == 0 {
		return nil, ErrNone
	}
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, ErrNone
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		_ = in.Close()
		return nil, ErrNone
	}
	return &Terminal{in: in, out: out}, nil
}

// discard drops input that was typed but not read.
func discard(f *os.File) { _ = windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
