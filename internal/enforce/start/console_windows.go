package start

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf16"

	"golang.org/x/sys/windows"
)

// console is the pseudo console of a run: the tool and its children have it in place of the
// user's, so they neither read the user's keys nor put any into the queue of the shell, and
// Ctrl+C among them reaches no process outside. The loader carries text in both directions.
// See decision D279.
type console struct {
	handle windows.Handle
	// keys goes to the tool, text comes from it.
	keys, text *os.File
	// drained is closed when no more text comes.
	drained chan struct{}
	// restore puts the user's console back.
	restore []func()
	closing chan struct{}
}

// isConsole reports whether a handle is one of a console.
func isConsole(h windows.Handle) bool {
	var mode uint32
	return windows.GetConsoleMode(h, &mode) == nil
}

// standard are the numbers of the three standard handles.
var standard = [...]uint32{windows.STD_INPUT_HANDLE, windows.STD_OUTPUT_HANDLE, windows.STD_ERROR_HANDLE}

// onConsole reports which of the loader's standard handles are consoles.
func onConsole() (any, input bool) {
	for _, id := range standard {
		h, err := windows.GetStdHandle(id)
		if err != nil || !isConsole(h) {
			continue
		}
		any = true
		input = input || id == windows.STD_INPUT_HANDLE
	}
	return any, input
}

// newConsole makes a pseudo console, whose text goes to a writer.
func newConsole(size windows.Coord, flags uint32, to io.Writer) (_ *console, err error) {
	keysFrom, keys, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer keysFrom.Close()
	text, textTo, err := os.Pipe()
	if err != nil {
		_ = keys.Close()
		return nil, err
	}
	defer textTo.Close()
	c := &console{keys: keys, text: text, drained: make(chan struct{}), closing: make(chan struct{})}
	// CreatePseudoConsole takes copies of the two ends.
	if err := windows.CreatePseudoConsole(size, windows.Handle(keysFrom.Fd()), windows.Handle(textTo.Fd()), flags, &c.handle); err != nil {
		_, _ = keys.Close(), text.Close()
		return nil, fmt.Errorf("CreatePseudoConsole: %w", err)
	}
	go func() {
		defer close(c.drained)
		_, _ = io.Copy(to, text)
	}()
	return c, nil
}

// attachConsole makes the pseudo console of a run where a standard handle is a console, and
// nothing elsewhere.
func attachConsole() (*console, error) {
	any, input := onConsole()
	if !any {
		return nil, nil
	}
	screen, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("the console: %w", err)
	}
	out := windows.Handle(screen.Fd())
	var flags uint32
	if input {
		// The pseudo console asks the terminal for the place of its cursor, and the answer
		// comes with the keys.
		flags = windows.PSEUDOCONSOLE_INHERIT_CURSOR
	}
	c, err := newConsole(window(out), flags, screen)
	if err != nil {
		_ = screen.Close()
		return nil, err
	}
	c.mode(out, windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING|windows.DISABLE_NEWLINE_AUTO_RETURN, 0)
	if input {
		if in, err := windows.GetStdHandle(windows.STD_INPUT_HANDLE); err == nil {
			const lines = windows.ENABLE_LINE_INPUT | windows.ENABLE_ECHO_INPUT | windows.ENABLE_PROCESSED_INPUT
			c.mode(in, windows.ENABLE_VIRTUAL_TERMINAL_INPUT, lines)
			go c.relay(in)
		}
	}
	go c.follow(out)
	return c, nil
}

// mode changes the mode of one of the user's handles for the time of the run.
func (c *console) mode(h windows.Handle, add, remove uint32) {
	var was uint32
	if windows.GetConsoleMode(h, &was) != nil || windows.SetConsoleMode(h, was&^remove|add) != nil {
		return
	}
	c.restore = append(c.restore, func() { _ = windows.SetConsoleMode(h, was) })
}

// relay hands on the user's keys. Not by os.Stdin, for which Ctrl+Z at the start of a read is the end.
func (c *console) relay(in windows.Handle) {
	buf := make([]uint16, 1024)
	var half []uint16
	for {
		var n uint32
		if windows.ReadConsole(in, &buf[0], uint32(len(buf)), &n, nil) != nil {
			return
		}
		units := append(half, buf[:n]...)
		half = nil
		if n := len(units); n > 0 && utf16.IsSurrogate(rune(units[n-1])) && units[n-1] < 0xdc00 {
			units, half = units[:n-1], []uint16{units[n-1]}
		}
		if _, err := c.keys.WriteString(string(utf16.Decode(units))); err != nil {
			return
		}
	}
}

// interrupt types Ctrl+C, which the pseudo console turns into the event.
func (c *console) interrupt() { _, _ = c.keys.WriteString("\x03") }

// window is the size of a console's window.
func window(out windows.Handle) windows.Coord {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(out, &info) != nil {
		return windows.Coord{X: 80, Y: 25}
	}
	w := info.Window
	return windows.Coord{X: max(w.Right-w.Left+1, 1), Y: max(w.Bottom-w.Top+1, 1)}
}

// follow gives the pseudo console the size of the user's window. Of a change there is an event
// only among the keys, which go to the tool.
func (c *console) follow(out windows.Handle) {
	size := window(out)
	for {
		select {
		case <-c.closing:
			return
		case <-time.After(200 * time.Millisecond):
		}
		if now := window(out); now != size && windows.ResizePseudoConsole(c.handle, now) == nil {
			size = now
		}
	}
}

// close ends the pseudo console, which writes the rest of its text, and puts the user's back.
// Nothing is left open by a second call, nor by one on nil.
func (c *console) close() {
	if c == nil || c.handle == 0 {
		return
	}
	close(c.closing)
	h := c.handle
	c.handle = 0
	// On older systems the call lasts until the text is read, so it has a thread of its own.
	go windows.ClosePseudoConsole(h)
	select {
	case <-c.drained:
	case <-time.After(5 * time.Second):
	}
	_ = errors.Join(c.keys.Close(), c.text.Close())
	for _, f := range c.restore {
		f()
	}
}
