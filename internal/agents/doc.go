// Package agents is the room of other programs' files and hooks. What the project knows of one program is a package that
// is named after it and gives one value of type Agent; package registry lists these. Of such a package settings.go and
// keys.go have the form of the settings, read.go makes a policy of them, model.go says what they permit, write.go makes
// them of a policy, hook.go answers hooks and install.go has the settings that name a hook. What is common to programs
// knows them by these values alone: importer drafts and proves, writer places and accounts, hook judges, hook/settings
// edits; adopt rewrites the servers that clients start.
//
// Commands call it. Other programs' files are read strictly and changed with everything else in them kept. What a
// setting means is written from its documentation, independently of the code that reads and of the code that writes it
// (model.go shares the types of the format with them and nothing else), so that an error in one does not prove itself
// right in the other.
package agents
