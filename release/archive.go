package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name string
	mode int64
	data []byte
}

// contents are the programs and papers of a platform as archives have them, below a directory.
func (r *release) contents(p platform, dir string) ([]entry, error) {
	var out []entry
	for _, of := range programs {
		data, err := os.ReadFile(r.binary(p, of))
		if err != nil {
			return nil, err
		}
		out = append(out, entry{path.Join(dir, of.name+p.exe()), 0o755, data})
	}
	for _, x := range papers {
		data, err := r.paper(x.name)
		if err != nil {
			return nil, err
		}
		out = append(out, entry{path.Join(dir, x.name), 0o644, data})
	}
	return out, nil
}

// paper is the text of a paper.
func (r *release) paper(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.built, "papers", name))
}

// base is the name of an archive without its ending.
func (r *release) base(p platform) string { return "accessc-" + r.version + "-" + p.os + "-" + p.arch }

// archive is the name of a platform's archive.
func (r *release) archive(p platform) string {
	if p.os == "windows" {
		return r.base(p) + ".zip"
	}
	return r.base(p) + ".tar.gz"
}

// archives writes an archive for each platform.
func (r *release) archives() error {
	for _, p := range platforms {
		entries, err := r.contents(p, r.base(p))
		if err != nil {
			return err
		}
		data, err := r.zipped(entries)
		if p.os != "windows" {
			data, err = r.tarred(entries)
		}
		if err != nil {
			return err
		}
		if err := r.put(r.archive(p), data); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file of the release.
func (r *release) put(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

// tarred is a tar archive in gzip's compression, of nobody in particular: the same entries give the same bytes.
func (r *release) tarred(entries []entry) ([]byte, error) {
	text, err := r.tar(entries)
	if err != nil {
		return nil, err
	}
	return gzipped(text)
}

// tar is a tar archive. A name that ends with a slash is a directory.
func (r *release) tar(entries []entry) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range sorted(entries) {
		h := &tar.Header{
			Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: time.Unix(r.epoch, 0),
			Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// zipped is a zip archive whose times have no zone.
func (r *release) zipped(entries []entry) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, e := range sorted(entries) {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: time.Unix(r.epoch, 0).UTC()}
		h.SetMode(os.FileMode(e.mode))
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func sorted(entries []entry) []entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return cmp.Compare(a.name, b.name) })
}
