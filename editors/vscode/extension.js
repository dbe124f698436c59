// Starts "accessc lsp" and has VS Code speak to it. The program is the user's: the setting has the scope "machine", so a
// workspace cannot name another, and a name with a separator is no path in the workspace.
const path = require("path");
const { workspace } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("accessc").get("path", "accessc");
  if (path.basename(command) !== command && !path.isAbsolute(command)) {
    throw new Error("accessc.path is neither a name nor an absolute path");
  }
  client = new LanguageClient(
    "accessc",
    { command, args: ["lsp"], transport: TransportKind.stdio },
    { documentSelector: [{ scheme: "file", language: "toml" }] },
  );
  return client.start();
};

exports.deactivate = () => client && client.stop();
