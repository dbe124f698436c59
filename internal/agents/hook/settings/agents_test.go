package settings

import "testing"

// agents are those that the project knows, and claude is an agent whose settings stand in groups.
var (
	agents []*Agent
	claude *Agent
)

// SetAgents sets both.
func SetAgents(all []*Agent, grouped *Agent) { agents, claude = all, grouped }

// agentOf is the agent of a name.
func agentOf(t *testing.T, name string) *Agent {
	t.Helper()
	for _, a := range agents {
		if a.Name == name {
			return a
		}
	}
	t.Fatal(name)
	return nil
}
