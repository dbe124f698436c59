package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// image writes an image for Linux on both architectures, as an archive of an OCI image layout
// (https://github.com/opencontainers/image-spec): one layer from nothing, with the programs, their licences, /tmp and
// an empty /work, for a workspace.
func (r *release) image() error {
	l := layout{files: []entry{
		{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{"blobs/", 0o755, nil}, {"blobs/sha256/", 0o755, nil},
	}}
	labels := map[string]string{
		"org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit,
		"org.opencontainers.image.source": repository, "org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.title": "accessc", "org.opencontainers.image.description": description,
	}
	var manifests []object
	for _, p := range platforms {
		if p.os != "linux" {
			continue
		}
		entries, err := r.layer(p)
		if err != nil {
			return err
		}
		text, err := r.tar(entries)
		if err != nil {
			return err
		}
		compressed, err := gzipped(text)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		config := l.json("application/vnd.oci.image.config.v1+json", object{
			"created": r.when(), "architecture": p.arch, "os": "linux",
			"config": object{
				"User": "65534:65534", "Env": []string{"PATH=/usr/bin", "HOME=/tmp"}, "WorkingDir": "/work",
				"Entrypoint": []string{"/usr/bin/" + programs[0].name}, "Labels": labels,
			},
			"rootfs":  object{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum[:])}},
			"history": []object{{"created": r.when(), "created_by": "accessc release " + r.tag}},
		})
		manifest := l.json(manifestType, object{
			"schemaVersion": 2, "mediaType": manifestType, "config": config,
			"layers":      []object{l.blob("application/vnd.oci.image.layer.v1.tar+gzip", compressed)},
			"annotations": labels,
		})
		manifest["platform"] = object{"os": "linux", "architecture": p.arch}
		manifests = append(manifests, manifest)
	}
	index := l.json(indexType, object{
		"schemaVersion": 2, "mediaType": indexType, "manifests": manifests, "annotations": labels,
	})
	index["annotations"] = object{"org.opencontainers.image.ref.name": r.version}
	data, err := json.Marshal(object{"schemaVersion": 2, "mediaType": indexType, "manifests": []object{index}})
	if err != nil {
		return err
	}
	data, err = r.tar(append(l.files, entry{"index.json", 0o644, data}))
	if err != nil {
		return err
	}
	return r.put("accessc-"+r.version+"-image.tar", data)
}

const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	indexType    = "application/vnd.oci.image.index.v1+json"
)

// object is a JSON object, whose members encoding/json sorts.
type object = map[string]any

// layer are the files of the image.
func (r *release) layer(p platform) ([]entry, error) {
	entries, err := r.contents(p, "")
	if err != nil {
		return nil, err
	}
	out := []entry{{"tmp/", 0o1777, nil}, {"work/", 0o755, nil}}
	for _, dir := range []string{"usr/", "usr/bin/", "usr/share/", "usr/share/doc/", "usr/share/doc/accessc/"} {
		out = append(out, entry{dir, 0o755, nil})
	}
	for _, e := range entries {
		switch {
		case e.mode == 0o755:
			out = append(out, entry{"usr/bin/" + e.name, e.mode, e.data})
		case e.name == "LICENSE" || e.name == "THIRD-PARTY-LICENSES":
			out = append(out, entry{"usr/share/doc/accessc/" + e.name, e.mode, e.data})
		}
	}
	return out, nil
}

// layout are the files of an image layout.
type layout struct{ files []entry }

// blob adds a blob and returns its descriptor.
func (l *layout) blob(media string, data []byte) object {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	l.files = append(l.files, entry{"blobs/sha256/" + digest, 0o644, data})
	return object{"mediaType": media, "digest": "sha256:" + digest, "size": len(data)}
}

func (l *layout) json(media string, v object) object {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps, lists, texts and numbers
	}
	return l.blob(media, data)
}
