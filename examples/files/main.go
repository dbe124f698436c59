// Command files is a worked example of a tool for an agent: it reads, lists, writes and removes
// files, starts programs and connects to hosts, each as far as its Context permits. Requests
// are lines of JSON on the standard input, answers are lines on the standard output; an error
// lists the permitted alternatives, for the model to go on with.
//
//	accessc exec files <<'END'
//	{"op": "read", "path": "src/main.c"}
//	{"op": "write", "path": "src/notes.txt", "text": "note"}
//	{"op": "run", "path": "git", "args": ["status", "--short"]}
//	END
//
// With -direct it does not ask its Context and leaves the refusing to the kernel. The tests
// start it in both ways and compare.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/accessc/accessc/tool"
)

// request is one line of input.
type request struct {
	Op   string   `json:"op"`
	Path string   `json:"path"`
	Text string   `json:"text"`
	Args []string `json:"args"`
}

// answer is one line of output.
type answer struct {
	Text  string   `json:"text,omitempty"`
	Names []string `json:"names,omitempty"`
	Error string   `json:"error,omitempty"`
	// Refused is the source of a refusal: the policy, by the library, or the system.
	Refused string `json:"refused,omitempty"`
}

func main() {
	direct := flag.Bool("direct", false, "do not ask the policy; the kernel refuses")
	flag.Parse()
	policy, err := tool.Load()
	if err != nil {
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
	var w world = checked{policy}
	if *direct {
		w = unchecked{policy.Root()}
	}
	if err := serve(w, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
}

func serve(w world, in io.Reader, out io.Writer) error {
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		switch err := dec.Decode(&r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		a, err := do(w, r)
		if err != nil {
			a.Error, a.Refused = err.Error(), refused(err)
		}
		if err := enc.Encode(a); err != nil {
			return err
		}
	}
}

func do(w world, r request) (answer, error) {
	switch r.Op {
	case "read":
		data, err := w.ReadFile(r.Path)
		return answer{Text: string(data)}, err
	case "list":
		entries, err := w.ReadDir(r.Path)
		var a answer
		for _, e := range entries {
			a.Names = append(a.Names, e.Name())
		}
		return a, err
	case "write":
		return answer{}, w.WriteFile(r.Path, []byte(r.Text), 0o666)
	case "append":
		return answer{}, put(w, r, os.O_APPEND)
	case "create":
		return answer{}, put(w, r, os.O_CREATE|os.O_EXCL)
	case "mkdir":
		return answer{}, w.Mkdir(r.Path, 0o777)
	case "remove":
		return answer{}, w.Remove(r.Path)
	case "run":
		text, err := w.Run(r.Path, r.Args...)
		return answer{Text: text}, err
	case "env":
		text, err := w.Getenv(r.Path)
		return answer{Text: text}, err
	case "connect":
		return answer{}, w.Connect(r.Path)
	default:
		return answer{}, fmt.Errorf("found op %q, expected read, list, write, append, create, mkdir, remove, run, env or connect", r.Op)
	}
}

// put writes to a file that is there, or to none.
func put(w world, r request, flag int) error {
	f, err := w.OpenFile(r.Path, os.O_WRONLY|flag, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(r.Text)
	return errors.Join(err, f.Close())
}

// refused returns the source of a refusal, empty for other errors.
func refused(err error) string {
	var outside *tool.OutsideError
	var escape *tool.EscapeError
	var denied *tool.DeniedError
	var net *tool.NetError
	var env *tool.EnvError
	var command *tool.CommandError
	switch {
	case errors.As(err, &outside), errors.As(err, &escape), errors.As(err, &denied),
		errors.As(err, &net), errors.As(err, &env), errors.As(err, &command):
		return "policy"
	case errors.Is(err, fs.ErrPermission):
		return "system"
	default:
		return ""
	}
}
