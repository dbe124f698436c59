// Package agents is the room of other programs' files and hooks: hook answers the hooks of agents, adopt rewrites the
// servers that clients start, and importer writes policies from the settings of other programs.
//
// Commands call it. Other programs' files are read strictly and changed with everything else in them kept. What a
// setting means is written from its documentation, independently of the code that writes it (importer/foreign and
// backends/agents), so that an error in one does not prove itself right in the other.
package agents
