package config

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Follow calls look, and again each time that an input of the configuration has changed, until the context ends. The
// inputs that differ are changed, none at first. A change that happens while look is called is seen after it.
func Follow(ctx context.Context, f Flags, look func(changed []string)) error {
	w, err := Watch(f)
	if err != nil {
		return err
	}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer events.Close()
	var changed []string
	for {
		// Directories are watched, since editors replace files. What changed before they were differs from w.
		if err := watchAll(events, w); err != nil {
			return err
		}
		if !w.Changed() {
			look(changed)
			if changed, err = next(ctx, events, w); err != nil || changed == nil {
				return err
			}
		}
		if w, err = w.Again(); err != nil {
			return err
		}
	}
}

// next waits for an input to differ; it returns none when the context ends.
func next(ctx context.Context, events *fsnotify.Watcher, w *Watched) ([]string, error) {
	for {
		if changed := w.differing(); len(changed) > 0 {
			return changed, nil
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case err := <-events.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return nil, err
			}
		case <-events.Events:
		}
	}
}

// watchAll watches the directories of the inputs, for those that are not there the nearest that is.
func watchAll(events *fsnotify.Watcher, w *Watched) error {
	for path, info := range w.files {
		if info == nil || !info.IsDir() {
			path = filepath.Dir(path)
		}
		err := events.Add(path)
		for errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
			path = filepath.Dir(path)
			err = events.Add(path)
		}
		if err != nil && !errors.Is(err, os.ErrPermission) {
			return err
		}
	}
	return nil
}
