package adopt

import (
	"bytes"
	flags "flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler"
)

var update = flags.Bool("update", false, "write the golden file")

// documented are entries as the pages of published servers show them.
var documented = [][]string{
	{"filesystem", "npx", "-y", "@modelcontextprotocol/server-filesystem", "./docs", "/home/u/notes", "/data"},
	{"memory", "npx", "-y", "@modelcontextprotocol/server-memory", "MEMORY_FILE_PATH="},
	{"everything", "npx", "-y", "@modelcontextprotocol/server-everything"},
	{"sequential-thinking", "npx", "-y", "@modelcontextprotocol/server-sequential-thinking"},
	{"github", "docker", "run", "-i", "--rm", "-e", "GITHUB_TOKEN", "ghcr.io/github/github-mcp-server"},
	{"fetch", "uvx", "mcp-server-fetch"},
	{"git", "uvx", "mcp-server-git", "--repository", "."},
	{"time", "uvx", "mcp-server-time", "--local-timezone=America/New_York"},
	{"sqlite", "uvx", "mcp-server-sqlite", "--db-path", "~/test.db"},
	{"postgres", "npx", "-y", "@modelcontextprotocol/server-postgres", "postgresql://localhost/mydb"},
	{"puppeteer", "docker", "run", "-i", "--rm", "--init", "mcp/puppeteer"},
	{"playwright", "npx", "@playwright/mcp@latest"},
	{"brave-search", "npx", "-y", "@modelcontextprotocol/server-brave-search", "BRAVE_API_KEY="},
	{"slack", "cmd", "/c", "npx", "-y", "@modelcontextprotocol/server-slack", "SLACK_TEAM_ID=", "SLACK_BOT_TOKEN="},
	{"sentry", "uvx", "--from", "mcp-server-sentry", "mcp-server-sentry", "--auth-token", "x"},
	{"notion", "bunx", "-y", "@notionhq/notion-mcp-server", "NOTION_TOKEN="},
	{"context7", "pnpm", "dlx", "@upstash/context7-mcp", "--api-key", "x"},
	{"gitlab", "/usr/bin/npx", "-y", "@modelcontextprotocol/server-gitlab", "GITLAB_API_URL="},
	{"google-maps", "yarn", "dlx", "@modelcontextprotocol/server-google-maps", "GOOGLE_MAPS_API_KEY="},
	{"redis", "uv", "tool", "run", "--from", "redis-mcp-server@latest", "redis-mcp-server", "--url", "redis://localhost"},
	{"local", "node", "./dist/index.js", "--root=${workspaceFolder}/docs"},
	{"module", "python3", "-m", "mcp_server_time"},
	{"exec", "npm", "exec", "-y", "--", "@modelcontextprotocol/server-memory"},
	{"pipx", "pipx", "run", "mcp-server-time"},
	{"memory-file", "npx", "-y", "@modelcontextprotocol/server-memory", "MEMORY_FILE_PATH=/ws/docs/memory.json"},
	{"memory-home", "npx", "-y", "@modelcontextprotocol/server-memory", "MEMORY_FILE_PATH=/home/u/notes/m", "A=/no/x"},
	{"memory-made", "npx", "-y", "@modelcontextprotocol/server-memory", "MEMORY_FILE_PATH=~/notes/made.jsonl"},
	{"sqlite-place", "uvx", "mcp-server-sqlite", "--db-path", "/srv/weather/there.db"},
	{"git-docker", "docker", "run", "--rm", "-i", "--mount", "type=bind,src=/home/u,dst=/home/u", "mcp/git"},
	{"postgres-docker", "docker", "run", "-i", "--rm", "mcp/postgres", "postgresql://host.docker.internal:5432/mydb"},
	{"github-shell", "bash", "-c", "docker run -i --rm ghcr.io/github/github-mcp-server"},
	{"github-sudo", "sudo", "-E", "docker", "run", "-i", "--rm", "ghcr.io/github/github-mcp-server"},
	{"wsl", "wsl", "npx", "-y", "@modelcontextprotocol/server-memory"},
	{"sqlite-source", "uv", "--directory", "/home/u/sqlite", "run", "mcp-server-sqlite", "--db-path", "~/test.db"},
	{"weather-uv", "uv", "--directory", "/srv/weather", "run", "weather.py"},
	{"weather-node", "node", "/srv/weather/build/index.js"},
	{"weather-home", "node", "/home/u/weather/build/index.js", "./docs"},
	{"script", "python", "/home/u/tool.py"},
	{"git-module", "python", "-m", "mcp_server_git", "--repository", "./docs"},
	{"serena", "uvx", "--from", "git+https://github.com/oraios/serena", "serena", "start-mcp-server"},
	{"repository", "npx", "-y", "github:owner/server"},
	{"relay", "npx", "-y", "mcp-remote", "https://mcp.linear.app/sse", "--allow=http://localhost:3000"},
	{"deno", "deno", "run", "-A", "npm:@scope/server"},
	{"go", "go", "run", "github.com/owner/server@latest"},
	{"jar", "java", "-jar", "/srv/weather/server.jar"},
	{"mcp-run", "uv", "run", "--with", "mcp[cli]", "mcp", "run", "./docs/server.py"},
	{"profile", "npx", "@playwright/mcp@latest", "--headless", "--user-data-dir=/home/u/notes/profile"},
	{"brave", "npx", "-y", "@brave/brave-search-mcp-server", "--transport", "stdio", "BRAVE_API_KEY="},
}

// TestDocumented: the table of each documented server is the one of the golden file, and is taken out again with every
// other byte in its place.
func TestDocumented(t *testing.T) {
	there := strings.Fields("/ws/.env /ws/docs /home/u/notes " +
		"/srv/weather /srv/weather/there.db /srv/weather/package.json /home/u /home/u/weather/package.json")
	ground := Ground{Root: "/ws", Home: "/home/u", Exists: func(at string) bool { return slices.Contains(there, at) }}
	ground.Reserved = func(string) string { return "" }
	ground.Secrets = func(string) ([]string, bool) { return nil, true }
	var all strings.Builder
	layer := []byte("# mine")
	var states [][]byte
	var names []string
	for _, d := range documented {
		s := Server{Name: d[0], Policy: compiler.ServerName(d[0])}
		for _, word := range d[1:] {
			if name, _, ok := strings.Cut(word, "="); ok && strings.ToUpper(name) == name {
				s.Env, s.Set = append(s.Env, name), append(s.Set, word)
			} else {
				s.Command = append(s.Command, word)
			}
		}
		all.WriteString("## " + strings.Join(d, " ") + "\n")
		if why := Daemon(s.Command); why != "" {
			all.WriteString("left alone: " + why + "\n")
			continue
		}
		c := s.Config(ground)
		for _, at := range c.Approve {
			all.WriteString("approve " + at + "\n")
		}
		for _, at := range c.Alone {
			all.WriteString("alone " + at + "\n")
		}
		for _, at := range c.Mount {
			all.WriteString("mount " + at + " " + c.Modes[at] + "\n")
		}
		all.WriteString(c.Text)
		now, err := Insert(layer, s.Policy, c.Text)
		if err != nil {
			t.Fatalf("%s: %v", d[0], err)
		}
		if _, err := Insert(now, s.Policy, c.Text); err != ErrHasTable {
			t.Errorf("%s: twice: %v", d[0], err)
		}
		states, names, layer = append(states, layer), append(names, s.Policy), now
	}
	if got := ground.Link("/elsewhere/.data:a=b", "data-a-b") + ground.Link("/srv/x", "x") + ground.Link("/"); got != "data-a-b-2x-2place" {
		t.Errorf("the names of mounts are %s", got)
	}
	for i, state := range slices.Backward(states) {
		was, err := Remove(layer, names[i])
		if err != nil || !bytes.Equal(was, state) {
			t.Fatalf("%s: %v, and the layer is not as before", names[i], err)
		}
		layer = was
	}
	const golden = "testdata/documented.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || all.String() != string(want) {
		t.Errorf("%v; got\n%s", err, all.String())
	}
}

// TestDaemons: a server whose daemon does the work stays, however its client is named. Under a policy of the client
// alone it would look confined.
func TestDaemons(t *testing.T) {
	for _, command := range []string{
		`"docker","args":["run"]`, `"/usr/bin/docker"`, `"C:\\x\\Docker.EXE"`, `"nerdctl"`, `"cmd","args":["/c","docker","run"]`,
		`"bash","args":["-lc","cd x && docker run -i y"]`, `"/usr/bin/env","args":["A=b","/usr/local/bin/docker","run"]`,
		`"sudo","args":["-E","nerdctl","run"]`, `"sh","args":["-c","exec \"docker\" run"]`, `"wsl.exe","args":["npx","x"]`,
		`"timeout","args":["9","docker-compose","run","x"]`,
	} {
		in := `{"mcpServers":{"a":{"command":` + command + `}}}`
		got, servers, err := Wrap("x.json", []byte(in), client)
		if err != nil || string(got) != in || !strings.Contains(servers[0].Why, "daemon does the work") {
			t.Errorf("%s: got %s, %+v, %v", command, got, servers, err)
		}
	}
}
