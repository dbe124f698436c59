package adopt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/layerfile"
	"github.com/accessc/accessc/internal/tomltext"
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
// See RATIONALE D395.
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

// Edit changes the text of a layer's file. An empty text is no file.
func Edit(file string, change func([]byte) ([]byte, error)) error {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := layerfile.Open(root, ".", filepath.Base(file))
	if err != nil {
		return err
	}
	defer f.Close()
	now, err := change(f.Data)
	if err != nil || bytes.Equal(now, f.Data) {
		return err
	}
	return f.Write(now)
}
