//go:build !js

package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/accessc/accessc/internal/review/play"
)

func main() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			fmt.Printf("%s\n", play.Answer(line))
		}
		if err != nil {
			return
		}
	}
}
