package sbpl

import "strings"

// The names that libsandbox of macOS 14.4.1 (23E224) knows, as Protonk/sandbox-boostrap reads them out of the
// library (book/graph/mappings/vocab). An operation that is not among them makes that release
// refuse a whole profile, unless a test with defined? guards it. What a path filter may be
// called, and the forms that join filters, come from Apple's prelude instead
// (0xbf00/simbple).

// Names144 are the 196 operations.
var Names144 = strings.Fields(`
default appleevent-send authorization-right-obtain boot-arg-set device* device-camera device-microphone
darwin-notification-post distributed-notification-post dynamic-code-generation file* file-chroot file-clone
file-ioctl file-issue-extension file-link file-lock file-map-executable file-mknod file-mount file-mount-update
file-read* file-read-data file-read-metadata file-read-xattr file-revoke file-search file-test-existence
file-unmount file-write* file-write-acl file-write-create file-write-data file-write-finderinfo file-write-flags
file-write-mode file-write-owner file-write-setugid file-write-times file-write-unlink file-write-xattr fs-quota*
fs-quota-get fs-quota-on fs-quota-off fs-quota-set* fs-quota-set-limits fs-quota-set-usage fs-quota-stat
fs-quota-sync fs-rename fs-snapshot* fs-snapshot-create fs-snapshot-delete fs-snapshot-mount fs-snapshot-revert
generic-issue-extension qtn-user hid-control iokit* iokit-get-properties iokit-issue-extension iokit-open*
iokit-open-user-client iokit-open-service iokit-set-properties ipc* ipc-posix* ipc-posix-issue-extension
ipc-posix-sem* ipc-posix-sem-create ipc-posix-sem-open ipc-posix-sem-post ipc-posix-sem-unlink ipc-posix-sem-wait
ipc-posix-shm* ipc-posix-shm-read-data ipc-posix-shm-write* ipc-posix-shm-write-create ipc-posix-shm-write-data
ipc-posix-shm-write-unlink ipc-sysv* ipc-sysv-msg ipc-sysv-sem ipc-sysv-shm job-creation lsopen mach* mach-bootstrap
mach-cross-domain-lookup mach-derive-port mach-host* mach-host-exception-port-set mach-host-special-port-set
mach-issue-extension mach-kernel-endpoint mach-lookup mach-priv* mach-priv-host-port mach-priv-task-port
mach-register mach-task* mach-task-inspect mach-task-name mach-task-read mach-task-special-port*
mach-task-special-port-get mach-task-special-port-set necp-client-open network* network-inbound network-bind
network-outbound nvram* nvram-delete nvram-get nvram-set opendirectory-user-modify process* process-codesigning
process-exec* process-exec-interpreter process-fork process-info* process-info-codesignature
process-info-dirtycontrol process-info-ledger process-info-listpids process-info-rusage process-info-pidinfo
process-info-pidfdinfo process-info-pidfileportinfo process-info-setcontrol process-legacy-codesigning*
process-legacy-codesigning-blob-get process-legacy-codesigning-cdhash-get
process-legacy-codesigning-entitlements-blob-get process-legacy-codesigning-entitlements-der-blob-get
process-legacy-codesigning-identity-get process-legacy-codesigning-status* process-legacy-codesigning-status-get
process-legacy-codesigning-status-set process-legacy-codesigning-teamid-get
process-legacy-codesigning-text-offset-get pseudo-tty signal socket-ioctl socket-option* socket-option-get
socket-option-set syscall* syscall-unix syscall-mach syscall-mig sysctl* sysctl-read sysctl-write system*
system-acct system-audit system-automount system-debug system-fcntl system-fsctl system-info system-kas-info
system-kext* system-kext-load system-kext-unload system-kext-query system-mac* system-mac-label system-mac-syscall
system-memorystatus-control system-necp-client-action system-nfssvc system-package-check system-privilege
system-reboot system-sched system-set-time system-socket system-suspend-resume system-swap user-preference*
user-preference-read managed-preference-read user-preference-write storage-class-map process-exec-update-label
default-message-filter iokit-async-external-method iokit-external-method iokit-external-trap mach-message-send
xpc-message-send
`)

// Filters144 are the 93 filters. A name of a string has two more forms, in -prefix and -regex.
var Filters144 = strings.Fields(`
path mount-relative-path xattr file-mode ipc-posix-name global-name local-name local remote control-name
socket-domain socket-type socket-protocol target fsctl-command ioctl-command iokit-registry-entry-class
iokit-property iokit-connection device-major device-minor device-conforms-to extension extension-class
appleevent-destination system-attribute right-name preference-domain vnode-type %entitlement-load
%entitlement-boolean %entitlement-string kext-bundle-id info-type notification-name notification-payload
semaphore-owner sysctl-name process-path rootless-boot-device-filter rootless-disk-filter privilege-id
process-attribute uid nvram-variable csr host-special-port filesystem-name boot-arg xpc-service-name
signing-identifier signal-number target-signing-identifier reboot-flags datavault-disk-filter
extension-path-ancestor file-attribute storage-class storage-class-extension iokit-usb-interface-class
iokit-usb-interface-subclass ancestor-signing-identifier require-ancestor-with-entitlement persona-type
syscall-number require-target-with-entitlement iokit-registry-entry-attribute user-intent-extension snapshot-name
mach-derived-port-role message-number message-name iokit-method-number iokit-trap-number machtrap-number
kernel-mig-routine iokit-user-client-type fcntl-command socket-option-level socket-option-name mac-policy-name
mac-syscall-number necp-client-action memorystatus-control-command state-flag
require-responsible-binary-with-entitlement %entitlement-is-bool-true %entitlement-is-present task-special-port
fileprovider-syncroot-path mount-root-path codesigning-operation kas-info-selector
`)

// Prelude are the forms of Apple's prelude, and of the language, that profiles here use.
var Prelude = strings.Fields(`
allow deny version if defined? quote with param string-append require-all require-any require-not
literal subpath prefix regex regex-quote path-ancestors
`)
