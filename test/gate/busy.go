package main

import (
	"fmt"
	"os"
	"os/exec"
)

// busy starts busy loops, and returns the function that ends them.
func busy(n int) func() {
	var loops []*exec.Cmd
	self, err := os.Executable()
	for range n {
		cmd := exec.Command(self, "spin")
		cmd.Env = []string{"GOMAXPROCS=1"}
		mortal(cmd)
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "gate: no busy loop:", err)
			break
		}
		loops = append(loops, cmd)
	}
	return func() {
		for _, cmd := range loops {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
}

// spin takes all that it can get of a processor.
func spin() {
	for i := 0; ; i++ {
	}
}
