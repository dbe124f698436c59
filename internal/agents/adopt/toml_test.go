package adopt

import (
	"strings"
	"testing"
)

// TestTOML: in Codex' file the commands change, however tables are written, and nothing else; Unwrap has them back.
func TestTOML(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"tables", `# mine
model = "é" # é

[mcp_servers.files] # é
args = [ # one
  '-y', # two ]
  "x", # three
]
command = "npx" # c
env = { A = "1" }
`, `# mine
model = "é" # é

[mcp_servers.files] # é
args = ["mcp", "--server", "files", "--", "npx", # one
  '-y', # two ]
  "x", # three
]
command = "accessc" # c
env = { A = "1" }
`},
		{"no arguments", `[mcp_servers."a b"]
  command = 'x' # c
startup_timeout_sec = 5
`, `[mcp_servers."a b"]
  command = "accessc"
  args = ["mcp", "--server", "a_b", "--", "x"] # c
startup_timeout_sec = 5
`},
		{"dotted", `[mcp_servers]
a.command = "x"
b.args = []
b.command = """y"""
`, `[mcp_servers]
a.command = "accessc"
a.args = ["mcp", "--server", "a", "--", "x"]
b.args = ["mcp", "--server", "b", "--", "y"]
b.command = "accessc"
`},
		{"inline", `mcp_servers = { a = { command = "x" }, b = { args = ["1"], command = "y" } }
`, `mcp_servers = { a = { command = "accessc", args = ["mcp", "--server", "a", "--", "x"] }, ` +
			`b = { args = ["mcp", "--server", "b", "--", "y", "1"], command = "accessc" } }
`},
		{"out of order", `[mcp_servers.z]
command = "x"
[mcp_servers.z.env]
T = "1"
[mcp_servers.a]
command = "y\"\u00e9"
args = ["\t"]
`, `[mcp_servers.z]
command = "accessc"
args = ["mcp", "--server", "z", "--", "x"]
[mcp_servers.z.env]
T = "1"
[mcp_servers.a]
command = "accessc"
args = ["mcp", "--server", "a", "--", "y\"é", "\t"]
`},
	} {
		got, servers, err := Wrap("config.toml", []byte(c.in), client)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v", c.name, got, err)
			continue
		}
		if again, _, err := Wrap("config.toml", got, client); err != nil || string(again) != c.want {
			t.Errorf("%s: the second time it became %s, %v", c.name, again, err)
		}
		back, _, err := Unwrap("config.toml", got, client)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		was, err := readTOML([]byte(c.in))
		if err == nil {
			err = was.same(readTOML, back, servers)
		}
		if err != nil {
			t.Errorf("%s: back it became %s: %v", c.name, back, err)
		}
	}
}

// TestTOMLUnchanged: a server that accessc cannot start stays, with the reason; so does a file that cannot be changed.
func TestTOMLUnchanged(t *testing.T) {
	for table, why := range map[string]string{
		`url = "https://x"`:                          "has no command",
		`command = 7`:                                "a command that is no text",
		"command = \"x\"\nargs = \"y\"":              "arguments that are no list",
		"command = \"x\"\nargs = [\"y\", 1]":         "an argument that is no text",
		"command = \"x\"\nenv = [\"PATH=.\"]":        "an env that is no table",
		"command = \"x\"\nenv = { PATH = \".\" }":    "sets PATH",
		"command = \"x\"\nenv.XDG_STATE_HOME = \"\"": "sets XDG_STATE_HOME",
		"command = \"x\"\ncwd = \"/elsewhere\"":      "starts in a directory of its own",
		`command = "docker"`:                         "docker",
	} {
		in := "[mcp_servers.a]\n" + table + "\n"
		got, servers, err := Wrap("config.toml", []byte(in), client)
		if err != nil || string(got) != in || !strings.Contains(servers[0].Why, why) {
			t.Errorf("%s: got %s, %+v, %v", table, got, servers, err)
		}
	}
	const head = "[mcp_servers]\na.command = \"x\"\n"
	for in, want := range map[string]string{
		"": "no table of servers", "x = [": "1:5", "mcp_servers = 1": "no table of servers",
		// An edit of one server moves the other's.
		head + "b.command = \"y\"\na.args = [\"1\"]\nb.args = [\"2\"]\n":                        "",
		head + "b.command = \"12345678901234567\"\na.args = [\"123456\", \"7\"]\nb.args = []\n": "written in a way",
	} {
		if got, _, err := Wrap("config.toml", []byte(in), client); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %s, %v", in, got, err)
		}
	}
	_, servers, err := Wrap("config.toml", []byte(`mcpServers = {}
[mcp_servers.a]
command = "x"
env_vars = ["A", { name = "B" }]
`), client)
	if err != nil || strings.Join(servers[0].Env, " ") != "A B" || servers[1].Changed {
		t.Errorf("got %+v, %v", servers, err)
	}
}
