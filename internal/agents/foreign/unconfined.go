package foreign

// Unconfined permits everything: a client starts its MCP servers as it runs itself.
type Unconfined struct{}

// Reads implements Policy.
func (Unconfined) Reads(string) bool { return true }

// Writes implements Policy.
func (Unconfined) Writes(string) bool { return true }

// Connects implements Policy.
func (Unconfined) Connects(string, uint16) bool { return true }

// Fetches implements Policy.
func (Unconfined) Fetches(string) bool { return true }

// Passes implements Policy.
func (Unconfined) Passes(string) bool { return true }

// Runs implements Policy.
func (Unconfined) Runs(string) bool { return true }

// Marks implements Policy.
func (Unconfined) Marks() Marks { return Marks{} }
