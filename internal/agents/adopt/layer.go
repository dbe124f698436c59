package adopt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// The comments around a table, by which it is found again. The sum at its end shows that nobody has edited it.
const (
	opens  = "# accessc adopt: begin %s\n"
	closes = "# accessc adopt: end %s "
	sumLen = 12
	// made begins a file that was not there before.
	made = "# accessc adopt made this file.\n"
)

// The reasons why a table is not written, or not taken away.
var (
	ErrHasTable = errors.New("the server has its table there already")
	ErrEdited   = errors.New("the table was edited, and stays")
)

func between(key, text string) string {
	return fmt.Sprintf(opens, key) + text + fmt.Sprintf(closes, key) + sum(text) + "\n"
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])[:sumLen]
}

// Insert adds the table of a server to the text of a layer, so that Remove leaves every byte before it.
// See decision D395.
func Insert(layer []byte, server, table string) ([]byte, error) {
	text, err := layerfile.Parse("the layer", layer)
	if err != nil {
		return nil, err
	}
	if text.Get(ir.ServersTable, server) != nil {
		return nil, ErrHasTable
	}
	now := append(bytes.Clone(layer), "\n"+table...)
	if len(layer) == 0 {
		now = []byte(made + "\n" + table)
	}
	if _, err := layerfile.Parse("the layer with the table", now); err != nil {
		return nil, err
	}
	return now, nil
}

// Remove takes the table of a server that Insert has added out of the text of a layer.
func Remove(layer []byte, server string) ([]byte, error) {
	key := tomltext.Key(server)
	open := "\n" + fmt.Sprintf(opens, key)
	from := bytes.Index(layer, []byte(open))
	if from < 0 {
		return layer, nil
	}
	text, rest, found := bytes.Cut(layer[from+len(open):], []byte(fmt.Sprintf(closes, key)))
	if !found || !bytes.HasPrefix(rest, []byte(sum(string(text))+"\n")) {
		return nil, ErrEdited
	}
	now := append(bytes.Clone(layer[:from]), rest[sumLen+1:]...)
	if string(now) == made {
		now = nil
	}
	return now, nil
}

// Read returns the text of the file of a layer, empty without one, and Write replaces it. dir is the directory of the
// file below a trusted one, root.
func Read(root, dir, name string) ([]byte, error) {
	at, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer at.Close()
	f, err := layerfile.Open(at, dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Data, nil
}

// Write replaces the text of a layer's file if it is still the one that was read. An empty text is no file.
func Write(root, dir, name string, was, now []byte) error {
	at, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer at.Close()
	f, err := layerfile.Open(at, dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	switch {
	case !bytes.Equal(f.Data, was):
		return layerfile.ErrChanged
	case bytes.Equal(now, was):
		return nil
	case f.Dir == nil:
		return fs.ErrNotExist
	}
	return f.Write(now)
}

// Ignore keeps a new directory below a trusted one out of git.
func Ignore(root, dir string) error {
	at, err := os.OpenRoot(filepath.Join(root, dir))
	if err != nil {
		return err
	}
	defer at.Close()
	return layerfile.Ignore(at)
}
