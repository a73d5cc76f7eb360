#!/usr/bin/env node
// Starts the program of the platform package that npm installed beside this one.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const path = require("node:path");

const isWindows = process.platform === "win32";
const name = `lukasa-${process.platform}-${process.arch}`;
let program;
try {
  program = path.join(path.dirname(require.resolve(`${name}/package.json`)), "bin", isWindows ? "lukasa.exe" : "lukasa");
} catch {
  console.error(
    `lukasa: the package ${name} is not installed
  It is an optional dependency of lukasa. Either there is none for this system, or npm was told to leave optional
  dependencies out (--omit=optional, --no-optional).
  next: install lukasa again without that option, or see the documentation for other ways to install it`,
  );
  process.exit(1);
}

// Before the program starts: a signal that comes earlier would end this process and leave the program running.
// A terminal sends Ctrl-C to both; another program that ends this one means the server.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    // Windows sends them to all processes of a console, and `kill` would end the program at once.
    if (!isWindows && (signal !== "SIGINT" || !process.stdin.isTTY)) child.kill(signal);
  });
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`lukasa: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
