package main

import (
	"syscall/js"

	"github.com/accessc/accessc/internal/review/play"
)

// main sets the global function accessc, of a request as JSON to a reply as JSON, and serves until the page is gone.
func main() {
	js.Global().Set("accessc", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(play.Answer([]byte(args[0].String())))
	}))
	select {}
}
