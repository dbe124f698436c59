package evidencecheck

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/denial/evidencelog"
)

// Formats are the forms of Export: events of the Open Cybersecurity Schema Framework, and log records as the file
// exporter of OpenTelemetry writes them. Both are lines of JSON.
const (
	OCSF = "ocsf"
	OTLP = "otlp"
)

// Export writes each line of a log in the form of another program. It judges nothing.
func Export(from io.Reader, to io.Writer, format string) error {
	begun := map[string]*evidencelog.Begin{}
	number := 0
	return lines(from, func(text []byte, ended bool) error {
		number++
		l, err := Parse(text)
		if err != nil || !ended {
			return fmt.Errorf("line %d is no whole line of an evidence log", number)
		}
		if l.Begin != nil {
			begun[l.Run] = &evidencelog.Begin{Accessc: l.Begin.Accessc, Kernel: l.Begin.Kernel, Serial: l.Begin.Serial}
		}
		b := begun[l.Run]
		if b == nil {
			b = &evidencelog.Begin{}
		}
		var out any
		if format == OTLP {
			out = telemetry(l, b)
		} else {
			out = security(l, b)
		}
		data, err := json.Marshal(out)
		if err != nil {
			return err
		}
		_, err = to.Write(append(data, '\n'))
		return err
	})
}

type object = map[string]any

// Classes and activities of OCSF 1.4.0 (https://schema.ocsf.io/1.4.0/classes).
const (
	schemaVersion = "1.4.0"
	fileActivity  = 1001
	launch        = 1007 // process activity
	network       = 4001
	request       = 4002 // HTTP activity
	lookup        = 4003 // DNS activity
	lifecycle     = 6002 // of an application
	otherActivity = 99
)

var fileActivities = map[string]int{"create": 1, "read": 2, "update": 3, "delete": 4, "rename": 5}

var methods = map[string]int{"CONNECT": 1, "DELETE": 2, "GET": 3, "HEAD": 4, "OPTIONS": 5, "POST": 6, "PUT": 7,
	"TRACE": 8}

// security is a line as an event of OCSF, with the profile security_control: what was decided, and by which policy.
func security(l *evidencelog.Line, b *evidencelog.Begin) object {
	at, _ := stamp(l.Time)
	e := object{
		"metadata": object{
			"version": schemaVersion, "uid": l.Run + "/" + strconv.FormatInt(l.N, 10), "log_name": "evidence",
			"product":  object{"name": "accessc", "vendor_name": "accessc", "version": b.Accessc},
			"profiles": []string{"security_control"},
		},
		"time": at.UnixMilli(), "severity_id": 1, "status_id": 1, "action_id": 0, "disposition_id": 0,
		"policy":   object{"name": l.Tool, "uid": l.Policy},
		"device":   object{"type_id": 0, "os": object{"type_id": 200, "name": "Linux", "kernel_release": b.Kernel}},
		"unmapped": object{"run": l.Run, "line": l.N, "previous": l.Previous, "event": l.Event},
	}
	class, activity, named := lifecycle, otherActivity, l.Event
	switch {
	case l.Operation != nil:
		class, activity, named = judged(e, l)
	case l.Begin != nil:
		activity, named = 3, "Start"
	case l.End != nil:
		activity, named = 4, "Stop"
		e["unmapped"].(object)["end"] = l.End
	case l.Grants != nil:
		e["unmapped"].(object)["grants"] = l.Grants
	case l.Dropped != nil:
		e["unmapped"].(object)["dropped"] = l.Dropped.Count
	}
	if class == lifecycle {
		e["app"] = object{"name": l.Tool, "vendor_name": "accessc"}
	}
	e["class_uid"], e["category_uid"], e["activity_id"] = class, class/1000, activity
	e["type_uid"], e["activity_name"] = class*100+activity, named
	return e
}

// judged completes the event of an operation.
func judged(e object, l *evidencelog.Line) (class, activity int, named string) {
	o := l.Operation
	decided := 1
	if !o.Allowed {
		decided = 2
		e["severity_id"] = 2
	}
	e["action_id"], e["disposition_id"], e["message"] = decided, decided, sentence(o)
	if o.Errno != "" {
		e["status_id"], e["status_code"] = 2, o.Errno
	}
	if o.Reason != "" {
		e["status_detail"] = o.Reason
	}
	process := object{"pid": o.Process.PID, "name": o.Process.Name}
	e["actor"] = object{"app_name": l.Tool, "process": process}
	more := e["unmapped"].(object)
	more["operation"], more["by"], more["means"], more["rule"] = o.Operation, o.By, o.Means, o.Rule
	switch {
	case o.Operation == "connect" || o.Operation == "listen":
		return connection(e, o)
	case o.Operation == "execute" || o.Operation == "run":
		file := o.Program
		if len(o.Paths) > 0 {
			file = o.Paths[0]
		}
		e["process"] = object{"name": path.Base(file), "file": fileOf(file)}
		return launch, 1, "Launch"
	case len(o.Paths) == 0:
		e["file"] = fileOf(o.Subject)
		return fileActivity, otherActivity, o.Operation
	}
	e["file"] = fileOf(o.Paths[0])
	if len(o.Paths) > 1 {
		e["file_result"] = fileOf(o.Paths[1])
	}
	if known, ok := fileActivities[o.Operation]; ok {
		return fileActivity, known, strings.ToUpper(o.Operation[:1]) + o.Operation[1:]
	}
	return fileActivity, otherActivity, o.Operation
}

func fileOf(name string) object {
	text := strings.ToValidUTF8(name, "\uFFFD")
	return object{"name": path.Base(text), "path": text, "type_id": 0}
}

func connection(e object, o *evidencelog.Operation) (class, activity int, named string) {
	host := strings.Trim(o.Host, "[]")
	at := object{"port": o.Port}
	if strings.Trim(host, "0123456789.") == "" || strings.Contains(host, ":") {
		at["ip"] = host
	} else {
		at["hostname"] = host
	}
	e["dst_endpoint"] = at
	switch {
	case o.Operation == "listen":
		return network, 7, "Listen"
	case o.Port == 0:
		e["query"] = object{"hostname": host}
		return lookup, 1, "Query"
	case o.Method != "":
		where := "/" + strings.Join(o.Segments, "/")
		e["http_request"] = object{"http_method": o.Method,
			"url": object{"scheme": o.Scheme, "hostname": host, "port": o.Port, "path": where}}
		if known, ok := methods[o.Method]; ok {
			return request, known, o.Method
		}
		return request, otherActivity, o.Method
	case o.Allowed:
		return network, 1, "Open"
	}
	return network, 5, "Refuse"
}

// sentence says an operation in a line of text.
func sentence(o *evidencelog.Operation) string {
	what := o.Subject
	switch {
	case o.Host != "":
		what = fmt.Sprintf("%s:%d", o.Host, o.Port)
		if o.Method != "" {
			what = o.Method + " " + o.Scheme + "://" + what + "/" + strings.Join(o.Segments, "/")
		}
	case len(o.Paths) > 0:
		what = strings.Join(o.Paths, " to ")
	case o.Program != "":
		what = o.Program
	}
	verdict := "denied"
	if o.Allowed {
		verdict = "allowed"
	}
	return strings.ToValidUTF8(o.Operation+" "+what+": "+verdict, "\uFFFD")
}

// Severities of log records (https://opentelemetry.io/docs/specs/otel/logs/data-model/).
const (
	info = 9
	warn = 13
)

// telemetry is a line as the logs of OpenTelemetry, in the JSON of OTLP: whole numbers of 64 bits are texts.
func telemetry(l *evidencelog.Line, b *evidencelog.Begin) object {
	at, _ := stamp(l.Time)
	severity, word, body := info, "INFO", l.Event+" of "+l.Tool
	attributes := []object{text("accessc.run", l.Run), whole("accessc.line", l.N), text("accessc.previous", l.Previous)}
	add := func(a ...object) { attributes = append(attributes, a...) }
	switch {
	case l.Operation != nil:
		o := l.Operation
		body = sentence(o)
		if !o.Allowed {
			severity, word = warn, "WARN"
		}
		add(truth("accessc.allowed", o.Allowed), text("accessc.operation", o.Operation),
			text("accessc.reason", o.Reason), text("accessc.by", o.By), text("accessc.means", o.Means),
			whole("process.pid", int64(o.Process.PID)),
			text("process.executable.name", strings.ToValidUTF8(o.Process.Name, "\uFFFD")))
		for i, p := range o.Paths {
			add(text([]string{"file.path", "accessc.file.to"}[min(i, 1)], strings.ToValidUTF8(p, "\uFFFD")))
		}
		if o.Rule != nil {
			add(text("accessc.rule.id", o.Rule.ID), text("accessc.rule.layer", o.Rule.Layer))
			if o.Rule.File != "" {
				add(text("accessc.rule.file", o.Rule.File), whole("accessc.rule.line", int64(o.Rule.Line)))
			}
		}
		if o.Host != "" {
			add(text("server.address", o.Host), whole("server.port", int64(o.Port)))
		}
		if o.Method != "" {
			add(text("http.request.method", o.Method), text("url.path", "/"+strings.Join(o.Segments, "/")))
		}
		if o.Errno != "" {
			add(text("error.type", o.Errno))
		}
	case l.End != nil:
		add(whole("accessc.status", int64(l.End.Status)), whole("accessc.allowed", l.End.Allowed),
			whole("accessc.denied", l.End.Denied), whole("accessc.dropped", l.End.Dropped))
	case l.Grants != nil:
		add(text("accessc.change", l.Grants.Change), whole("accessc.question", int64(l.Grants.ID)),
			text("accessc.answer", l.Grants.Answer))
	case l.Dropped != nil:
		severity, word = warn, "WARN"
		add(whole("accessc.dropped", l.Dropped.Count))
	}
	resource := []object{text("service.name", l.Tool), text("os.type", "linux"), text("accessc.policy", l.Policy),
		text("accessc.version", b.Accessc)}
	return object{"resourceLogs": []object{{
		"resource": object{"attributes": resource},
		"scopeLogs": []object{{
			"scope": object{"name": "accessc.evidence", "version": strconv.Itoa(l.Version)},
			"logRecords": []object{{
				"timeUnixNano": nanoseconds(at), "observedTimeUnixNano": nanoseconds(at), "severityNumber": severity,
				"severityText": word, "body": object{"stringValue": body}, "attributes": attributes,
				"eventName": "accessc." + l.Event,
			}},
		}},
	}}}
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func text(key, value string) object { return object{"key": key, "value": object{"stringValue": value}} }

func truth(key string, value bool) object {
	return object{"key": key, "value": object{"boolValue": value}}
}

func whole(key string, value int64) object {
	return object{"key": key, "value": object{"intValue": strconv.FormatInt(value, 10)}}
}
