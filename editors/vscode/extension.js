// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
// The client of `camkes lsp`, and commands, tasks, tests and views that run camkes.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { debug, registerDebugger } = require("./debugging");
const { Pages, VIEWS } = require("./pages");
const { makeController } = require("./testing");

const COMMANDS = ["check", "run", "test", "analyze"];
const GROUPS = { check: vscode.TaskGroup.Build, test: vscode.TaskGroup.Test };
let client;

function program() {
    return vscode.workspace.getConfiguration("camkes").get("path", "camkes");
}

function task(definition, scope) {
    const words = [definition.command, definition.path || ".", ...(definition.arguments || [])];
    if (definition.command !== "test") {
        words.push("--format", "oneline");
    }
    const name = `${definition.command} ${definition.path || "."}`;
    const execution = new vscode.ProcessExecution(program(), words);
    const made = new vscode.Task(definition, scope, name, "camkes", execution, "$camkes");
    made.group = GROUPS[definition.command];
    return made;
}

const provider = {
    provideTasks() {
        const folders = vscode.workspace.workspaceFolders || [];
        return folders.flatMap((folder) => COMMANDS.map((command) => task({ type: "camkes", command }, folder)));
    },
    resolveTask(found) {
        return task(found.definition, found.scope || vscode.TaskScope.Workspace);
    },
};

/** Run a command for a path, that of a lens, or of the file in the editor. */
function execute(command, path) {
    const file = path || vscode.window.activeTextEditor?.document.uri.fsPath;
    if (file) {
        return vscode.tasks.executeTask(task({ type: "camkes", command, path: file }, vscode.TaskScope.Workspace));
    }
    return vscode.window.showErrorMessage("CAmkES: open a .camkes file first");
}

async function start() {
    const server = { command: program(), args: ["lsp"] };
    const options = {
        documentSelector: [{ language: "camkes" }],
        initializationOptions: {
            trusted: vscode.workspace.isTrusted,
            definitions: vscode.workspace.getConfiguration("camkes").get("definitions"),
            commands: ["camkes.run", "camkes.debug", "camkes.analyze"],
        },
    };
    client = new LanguageClient("camkes", "CAmkES", server, options);
    await client.start();
}

async function stop() {
    await client?.stop();
    client = undefined;
}

async function activate(context) {
    for (const command of ["run", "analyze", "test"]) {
        const registered = vscode.commands.registerCommand(`camkes.${command}`, (path) => execute(command, path));
        context.subscriptions.push(registered);
    }
    const pages = new Pages(program);
    const actions = { debug, ...Object.fromEntries(Object.keys(VIEWS).map((view) => [view, (file) => pages.open(view, file)])) };
    for (const [name, act] of Object.entries(actions)) {
        const registered = vscode.commands.registerCommand(`camkes.${name}`, (path) => {
            const file = path?.fsPath || path || vscode.window.activeTextEditor?.document.uri.fsPath;
            return file ? act(file) : vscode.window.showErrorMessage("CAmkES: open a .camkes file first");
        });
        context.subscriptions.push(registered);
    }
    context.subscriptions.push(
        vscode.workspace.onDidSaveTextDocument((document) => pages.saved(document)),
        makeController(program),
        ...registerDebugger(program),
    );
    const restart = async () => {
        await stop();
        await start();
    };
    context.subscriptions.push(
        vscode.commands.registerCommand("camkes.restart", restart),
        vscode.workspace.onDidGrantWorkspaceTrust(restart),
        vscode.tasks.registerTaskProvider("camkes", provider),
    );
    try {
        await start();
    } catch (error) {
        vscode.window.showErrorMessage(`CAmkES: ${program()} lsp does not start (${error.message}). Install it with the extra \`editor\`, or set camkes.path to where it is.`);
    }
}

module.exports = { activate, deactivate: stop };
