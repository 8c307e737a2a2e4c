// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
// Systems in the debugger of the editor: `camkes debug --dap` speaks its protocol.
"use strict";

const vscode = require("vscode");

/** The arguments of `camkes debug` for a configuration of launch.json. */
function wordsOf(configuration) {
    const { program, breakIn, at, duration, debug, arguments: more } = configuration;
    return [
        "debug", "--dap", program,
        ...(at ? ["--at", at] : []),
        ...(duration ? ["--for", duration] : []),
        ...(debug === false ? [] : ["--debug"]),
        ...(more || []),
        ...(breakIn || []),
    ];
}

/** What registers the debugger; `program` names the command. */
function registerDebugger(program) {
    const provider = {
        provideDebugConfigurations: () => [{ type: "camkes", request: "launch", name: "Debug the system", program: "${workspaceFolder}" }],
        resolveDebugConfiguration(_, configuration) {
            if (configuration.program) {
                return { type: "camkes", request: "launch", name: "CAmkES", ...configuration };
            }
            const file = vscode.window.activeTextEditor?.document.uri.fsPath;
            const own = file && /\.camkes$/.test(file) ? file : "${workspaceFolder}";
            return { ...configuration, type: "camkes", request: "launch", name: "CAmkES", program: own };
        },
    };
    const factory = {
        createDebugAdapterDescriptor: (session) => new vscode.DebugAdapterExecutable(program(), wordsOf(session.configuration)),
    };
    return [
        vscode.debug.registerDebugConfigurationProvider("camkes", provider),
        vscode.debug.registerDebugAdapterDescriptorFactory("camkes", factory),
    ];
}

/** Debug the system of a path. */
function debug(path) {
    return vscode.debug.startDebugging(undefined, { type: "camkes", request: "launch", name: "CAmkES", program: path });
}

module.exports = { debug, registerDebugger, wordsOf };
