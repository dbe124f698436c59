package hook

import "slices"

// Agents are those that the project knows.
var Agents []*Agent

// Find returns the agent of a name.
func Find(name string) (*Agent, bool) {
	i := slices.IndexFunc(Agents, func(a *Agent) bool { return a.Name == name })
	if i < 0 {
		return nil, false
	}
	return Agents[i], true
}
