// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
// Tests of projects in the view of tests: `camkes test --list` names them, `camkes test --json` runs them.
"use strict";

const { execFile } = require("node:child_process");
const path = require("node:path");
const vscode = require("vscode");

/** What a command prints; it may have any status. `started` takes the process, to end it. */
function output(program, words, folder, started) {
    return new Promise((resolve) => {
        const limits = { cwd: folder, maxBuffer: 1 << 28 };
        const child = execFile(program, words, limits, (error, printed, errors) => resolve({ error, printed, errors }));
        started?.(child);
    });
}

/** The projects of a workspace: the folders with `tests/NAME.camkes`. */
async function projects() {
    const files = await vscode.workspace.findFiles("**/tests/*.camkes", "**/{build,node_modules}/**");
    return [...new Set(files.map((file) => path.dirname(path.dirname(file.fsPath))))].sort();
}

/** A controller with the tests of all projects; `program` names the command. */
function makeController(program) {
    const controller = vscode.tests.createTestController("camkes", "CAmkES");

    async function list() {
        const items = [];
        for (const folder of await projects()) {
            const { printed } = await output(program(), ["test", folder, "--list"], folder);
            const names = printed.split("\n").map((line) => line.trim()).filter((name) => /^[\w.-]+$/.test(name));
            const project = controller.createTestItem(folder, path.basename(folder), vscode.Uri.file(folder));
            project.children.replace(names.map((name) => {
                const file = vscode.Uri.file(path.join(folder, "tests", `${name}.camkes`));
                return controller.createTestItem(`${folder}\n${name}`, name, file);
            }));
            if (names.length) {
                items.push(project);
            }
        }
        controller.items.replace(items);
    }

    async function run(request, token) {
        const execution = controller.createTestRun(request);
        const wanted = [];
        const excluded = new Set((request.exclude || []).map((item) => item.id));
        const add = (item) => {
            if (item.children.size) {
                item.children.forEach(add);
            } else if (!excluded.has(item.id)) {
                wanted.push(item);
            }
        };
        if (request.include) {
            request.include.forEach(add);
        } else {
            controller.items.forEach(add);
        }
        const folders = Map.groupBy ? Map.groupBy(wanted, (item) => item.id.split("\n")[0]) : grouped(wanted);
        for (const [folder, items] of folders) {
            items.forEach((item) => execution.started(item));
            const all = items.length === controller.items.get(folder)?.children.size;
            for (const part of all ? [items] : items.map((item) => [item])) {
                if (token.isCancellationRequested) {
                    part.forEach((item) => execution.skipped(item));
                    continue;
                }
                const target = all ? folder : part[0].uri.fsPath;
                const started = (child) => token.onCancellationRequested(() => child.kill());
                report(execution, folder, part, await output(program(), ["test", target, "--json"], folder, started));
            }
        }
        execution.end();
    }

    controller.resolveHandler = list;
    controller.refreshHandler = list;
    controller.createRunProfile("Run", vscode.TestRunProfileKind.Run, run, true);
    return controller;
}

function grouped(items) {
    const found = new Map();
    for (const item of items) {
        const folder = item.id.split("\n")[0];
        found.set(folder, [...(found.get(folder) || []), item]);
    }
    return found;
}

/** Enter the results of tests; where there are none, what the command said. */
function report(execution, folder, items, { printed, errors, error }) {
    let results = [];
    try {
        results = JSON.parse(printed).tests;
    } catch {
        // what it said is shown below
    }
    if (errors) {
        execution.appendOutput(errors.replaceAll("\n", "\r\n"));
    }
    for (const item of items) {
        const own = results.filter((result) => result.name === item.label);
        for (const result of own) {
            execution.appendOutput((result.output || "").replaceAll("\n", "\r\n"));
        }
        if (!own.length) {
            execution.errored(item, new vscode.TestMessage(errors || error?.message || "the test was not run"));
        } else if (own.every((result) => result.passed)) {
            execution.passed(item);
        } else {
            execution.failed(item, own.flatMap((result) => messages(folder, item, result)));
        }
    }
}

/** Why a test failed, each reason at its place. */
function messages(folder, item, result) {
    const found = [];
    for (const failure of [...(result.failures || []), ...(result.diagnostics || [])]) {
        const message = new vscode.TestMessage(failure.message);
        const place = failure.span || failure;
        if (place.file && place.line) {
            const position = new vscode.Position(place.line - 1, Math.max((place.column || 1) - 1, 0));
            message.location = new vscode.Location(vscode.Uri.file(path.resolve(folder, place.file)), position);
        }
        found.push(message);
    }
    for (const each of result.cases || []) {
        if (!each.passed && !found.length) {
            found.push(...each.failures.map((text) => new vscode.TestMessage(`${each.name}: ${text}`)));
        }
    }
    return found.length ? found : [new vscode.TestMessage(`${item.label} failed`)];
}

module.exports = { makeController, output };
