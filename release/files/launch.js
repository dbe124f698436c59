// Starts a program of this platform's package in place of this one: the same arguments, streams and status.
"use strict";
const { spawn } = require("node:child_process");

module.exports = (name) => {
  const platform = `@accessc/${process.platform}-${process.arch}`;
  let file;
  try {
    file = require.resolve(`${platform}/bin/${name}${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    console.error(`${name}: the package ${platform} is not installed: either accessc has none for this platform, or npm left`);
    console.error("out optional dependencies (--omit=optional, or a lock file of another platform)");
    process.exit(127);
  }
  const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
  // A terminal sends its signals to both; what is sent to this process alone is for the program.
  for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
  for (const signal of ["SIGTERM", "SIGHUP", "SIGUSR2", "SIGWINCH", "SIGCONT"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`${name}: ${error.message}`);
    process.exit(126);
  });
  child.on("exit", (status, signal) => {
    if (!signal) process.exit(status);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
};
