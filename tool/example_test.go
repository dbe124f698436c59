package tool_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/tool"
)

// workspace prepares a workspace as accessc exec would: src is written, everything but .env is
// read, and one host is reached.
func workspace() *tool.Policy {
	dir, err := os.MkdirTemp("", "accessc-example-")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{"src/main.go": "package main\n", ".env": "TOKEN=1\n"} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			log.Fatal(err)
		}
	}
	policy, err := tool.Parse(fmt.Appendf(nil, `{
		"root": %q, "action": "run", "tool": "edit",
		"access": {
			"base": {"name": "system", "version": 3},
			"fs": [
				{"lexical_path": "", "read": true},
				{"lexical_path": "src", "read": true, "create": true, "update": true, "delete": true},
				{"lexical_path": ".env"}
			],
			"net": [{"host": "api.example.com", "scheme": "https", "allow": true}],
			"env": [{"name": "PATH", "read": true}],
			"commands": {"git": {"args": [["status", "**"]]}}
		}
	}`, filepath.ToSlash(dir)))
	if err != nil {
		log.Fatal(err)
	}
	return policy
}

func Example() {
	// In a tool: policy, err := tool.Load()
	policy := workspace()
	defer os.RemoveAll(policy.Root())

	text, err := policy.ReadFile("src/main.go")
	fmt.Printf("%s%v\n", text, err)

	_, err = policy.ReadFile(".env")
	fmt.Println(err)
	fmt.Println(errors.Is(err, fs.ErrPermission))
	// Output:
	// package main
	// <nil>
	// read of .env is denied by the rule on .env; read is granted at ., src
	// true
}

// The errors name the alternatives, to a program as well.
func ExampleDeniedError() {
	policy := workspace()
	defer os.RemoveAll(policy.Root())

	err := policy.WriteFile("notes.txt", []byte("note"), 0o644)
	var denied *tool.DeniedError
	if errors.As(err, &denied) {
		fmt.Println(denied.Capability, "is granted at", denied.Granted)
	}
	// Output: create is granted at [src]
}

func ExamplePolicy_CheckUpdate() {
	policy := workspace()
	defer os.RemoveAll(policy.Root())

	_, err := policy.CheckUpdate("src/main.go")
	fmt.Println(err)
	_, err = policy.CheckUpdate("../other/main.go")
	fmt.Println(err)
	// Output:
	// <nil>
	// ../other/main.go: the path leaves the workspace
}

func ExamplePolicy_CheckConnect() {
	policy := workspace()
	defer os.RemoveAll(policy.Root())

	fmt.Println(policy.CheckConnect("https://api.example.com/v1"))
	fmt.Println(policy.CheckConnect("http://api.example.com/v1"))
	// Output:
	// <nil>
	// connecting to http://api.example.com/v1 is denied: no rule matches; allowed: https://api.example.com
}

func ExamplePolicy_CheckRun() {
	policy := workspace()
	defer os.RemoveAll(policy.Root())

	fmt.Println(policy.CheckRun("git", "status", "--short"))
	fmt.Println(policy.CheckRun("git", "push"))
	// Output:
	// <nil>
	// running git push is denied with these arguments; allowed: git status **
}
