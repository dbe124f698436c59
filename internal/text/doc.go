// Package text is the room of what reads and writes text and messages, and touches no system: foreign characters made
// visible, words quoted for a shell or for TOML, numbers with their nouns, suggestions, and strict readers of JSON.
//
// Every room may call it, the model included. A reader refuses a text that two parsers could read
// differently.
package text
