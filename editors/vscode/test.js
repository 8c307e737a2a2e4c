// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
// test.js FOLDER...: the grammar colours the files in these folders, and the extension starts a server (with a stand-in
// for the editor), registers all commands of package.json, and offers tasks.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const { test } = require("node:test");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const description = require("./package.json");

async function grammar() {
    const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
    await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
    const registry = new textmate.Registry({
        onigLib: Promise.resolve({
            createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
            createOnigString: (text) => new oniguruma.OnigString(text),
        }),
        loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(path.join(__dirname, description.contributes.grammars[0].path), "utf8"), "camkes.json"),
    });
    return registry.loadGrammar("source.camkes");
}

/** The words of a text with their innermost scopes. */
function coloured(language, text) {
    let state = textmate.INITIAL;
    const found = [];
    for (const line of text.split("\n")) {
        const result = language.tokenizeLine(line, state);
        state = result.ruleStack;
        for (const token of result.tokens) {
            const word = line.slice(token.startIndex, token.endIndex).trim();
            if (word) {
                found.push([word, token.scopes[token.scopes.length - 1]]);
            }
        }
    }
    return { found, ended: state };
}

test("words have their colours", async () => {
    const language = await grammar();
    const text = 'import <a.camkes>; // b\ncomponent A { requestor; provides P p with priority_protocol inherited, requests (n); }\nx.y_wcet = 2 ms;\nx.t = "s";';
    const colours = Object.fromEntries(coloured(language, text).found);
    const expected = {
        import: "keyword.control.import.camkes",
        "<a.camkes>": "string.quoted.other.camkes",
        "// b": "comment.line.double-slash.camkes",
        component: "keyword.declaration.camkes",
        A: "entity.name.type.camkes",
        requestor: "storage.modifier.camkes",
        provides: "keyword.other.camkes",
        inherited: "constant.language.camkes",
        requests: "keyword.other.camkes",
        y_wcet: "variable.other.property.camkes",
        2: "constant.numeric.camkes",
        ms: "keyword.other.unit.camkes",
        s: "string.quoted.double.camkes",
    };
    for (const [word, scope] of Object.entries(expected)) {
        assert.strictEqual(colours[word], scope, word);
    }
});

test("files end outside of comments and strings", async () => {
    const language = await grammar();
    const folders = process.env.FOLDERS.split(":");
    const files = folders.flatMap((folder) => fs.readdirSync(folder, { recursive: true }).map((name) => path.join(folder, name)));
    const ours = files.filter((name) => /\.(camkes|idl4)$/.test(name));
    assert.ok(ours.length > 10);
    for (const file of ours) {
        const { ended, found } = coloured(language, fs.readFileSync(file, "utf8"));
        assert.strictEqual(ended.depth, 1, file);
        assert.ok(found.some(([, scope]) => scope === "keyword.declaration.camkes" || scope.startsWith("meta.preprocessor") || scope.startsWith("comment")), file);
    }
});

/** A stand-in for the editor's tests. */
class Items {
    constructor() { this.map = new Map(); }
    replace(items) { this.map = new Map(items.map((item) => [item.id, item])); }
    get(id) { return this.map.get(id); }
    forEach(run) { this.map.forEach(run); }
    get size() { return this.map.size; }
}

function standIn() {
    const stand = { commands: {}, saved: [], panels: [], results: [], files: [] };
    stand.vscode = {
        TaskGroup: { Build: "build", Test: "test" },
        TaskScope: { Workspace: 2 },
        ViewColumn: { Beside: -2 },
        ProgressLocation: { Window: 10 },
        TestRunProfileKind: { Run: 1 },
        Uri: { file: (fsPath) => ({ fsPath }) },
        Position: class { constructor(line, character) { Object.assign(this, { line, character }); } },
        Location: class { constructor(uri, range) { Object.assign(this, { uri, range }); } },
        TestMessage: class { constructor(message) { this.message = message; } },
        ProcessExecution: class { constructor(program, words) { Object.assign(this, { program, words }); } },
        Task: class { constructor(definition, scope, name, source, execution, matchers) { Object.assign(this, { definition, name, execution, matchers }); } },
        DebugAdapterExecutable: class { constructor(command, args) { Object.assign(this, { command, args }); } },
        debug: {
            registerDebugConfigurationProvider: (_, provider) => { stand.debugging = provider; },
            registerDebugAdapterDescriptorFactory: (_, factory) => { stand.adapters = factory; },
            startDebugging: (_, configuration) => configuration,
        },
        commands: { registerCommand: (name, run) => { stand.commands[name] = run; } },
        tasks: { registerTaskProvider: (_, provider) => { stand.tasks = provider; }, executeTask: (task) => task },
        tests: {
            createTestController: () => {
                stand.controller = {
                    items: new Items(),
                    createTestItem: (id, label, uri) => ({ id, label, uri, children: new Items() }),
                    createRunProfile: (label, kind, run) => { stand.runTests = run; },
                    createTestRun: () => ({
                        started: () => undefined,
                        appendOutput: () => undefined,
                        passed: (item) => stand.results.push(["passed", item.label]),
                        failed: (item, messages) => stand.results.push(["failed", item.label, messages]),
                        errored: (item, message) => stand.results.push(["errored", item.label, message]),
                        end: () => stand.results.push(["end"]),
                    }),
                };
                return stand.controller;
            },
        },
        window: {
            showErrorMessage: (text) => assert.fail(text),
            withProgress: (_, run) => run(),
            createWebviewPanel: (type, title, place, options) => {
                const panel = { type, title, place, options, visible: true, webview: { html: "" }, reveal: () => undefined, onDidDispose: () => undefined };
                stand.panels.push(panel);
                return panel;
            },
        },
        workspace: {
            isTrusted: true,
            workspaceFolders: [{ name: "w" }],
            getConfiguration: () => ({ get: (_, value) => stand.program || value }),
            onDidGrantWorkspaceTrust: () => undefined,
            onDidSaveTextDocument: (run) => stand.saved.push(run),
            findFiles: async () => stand.files,
        },
    };
    return stand;
}

/** The extension, with stand-ins for the editor and the client of the server. */
function extensionWith(stand) {
    const client = class {
        constructor(...settings) { stand.started = settings; }
        async start() {}
        async stop() {}
    };
    const stands = { vscode: stand.vscode, "vscode-languageclient/node": { LanguageClient: client } };
    for (const name of ["extension", "pages", "testing", "debugging"]) {
        delete require.cache[require.resolve(`./${name}.js`)];
    }
    const load = Module._load;
    Module._load = (name, ...rest) => stands[name] || load(name, ...rest);
    try {
        return require("./extension.js");
    } finally {
        Module._load = load;
    }
}

test("the extension registers what package.json declares", async () => {
    const stand = standIn();
    const extension = extensionWith(stand);
    const { commands } = stand;
    await extension.activate({ subscriptions: [] });
    assert.deepStrictEqual(Object.keys(commands).sort(), description.contributes.commands.map((each) => each.command).sort());
    assert.deepStrictEqual(stand.started[2], { command: "camkes", args: ["lsp"] });
    assert.strictEqual(stand.started[3].initializationOptions.trusted, true);
    assert.deepStrictEqual(stand.tasks.provideTasks().map((each) => each.definition.command), ["check", "run", "test", "analyze"]);
    assert.deepStrictEqual(commands["camkes.analyze"]("/p").execution.words, ["analyze", "/p", "--format", "oneline"]);
    await extension.deactivate();
});

/** A program that stands in for camkes. */
function program(folder, script) {
    const file = path.join(folder, "camkes");
    fs.writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return file;
}

test("tests are listed and run, and a failure is at its line", async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "camkes-test-"));
    const stand = standIn();
    const results = {
        tests: [
            { name: "good", passed: true, cases: [], diagnostics: [], output: "" },
            { name: "bad", passed: false, cases: [], output: "", diagnostics: [{ message: "it is 2", file: "tests/bad.c", line: 7 }] },
        ],
    };
    fs.writeFileSync(path.join(folder, "results.json"), JSON.stringify(results));
    stand.program = program(folder, `case "$*" in *--list) echo bad; echo good;; *) cat ${folder}/results.json; exit 1;; esac`);
    stand.files = ["bad", "good"].map((name) => ({ fsPath: path.join(folder, "tests", `${name}.camkes`) }));
    await extensionWith(stand).activate({ subscriptions: [] });
    await stand.controller.resolveHandler();
    const project = stand.controller.items.get(folder);
    assert.strictEqual(project.children.size, 2);
    const token = { isCancellationRequested: false, onCancellationRequested: () => undefined };
    await stand.runTests({}, token);
    const bad = stand.results.find(([what]) => what === "failed");
    assert.strictEqual(bad[1], "bad");
    assert.strictEqual(bad[2][0].message, "it is 2");
    assert.strictEqual(bad[2][0].location.uri.fsPath, path.join(folder, "tests/bad.c"));
    assert.strictEqual(bad[2][0].location.range.line, 6);
    assert.ok(stand.results.some(([what, name]) => what === "passed" && name === "good"));
    stand.program = program(folder, "echo 'no compiler' >&2; exit 2");
    stand.results.length = 0;
    await stand.runTests({ include: [project.children.get(`${folder}\ngood`)] }, token);
    assert.deepStrictEqual(stand.results.map(([what]) => what), ["errored", "end"]);
    assert.match(stand.results[0][2].message, /no compiler/);
});

test("the timeline and the graph are beside the text, and follow it", async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "camkes-test-"));
    const stand = standIn();
    const script = 'for word; do case "$last" in --timeline) echo "<html><head></head>$*</html>" > "$word";; -o) echo "<svg>$*</svg>" > "$word";; esac; last=$word; done';
    stand.program = program(folder, script);
    await extensionWith(stand).activate({ subscriptions: [] });
    const system = path.join(folder, "a.camkes");
    await stand.commands["camkes.timeline"](system);
    await stand.commands["camkes.graph"](system);
    const [timeline, graph] = stand.panels;
    assert.strictEqual(timeline.place.viewColumn, -2);
    assert.ok(timeline.webview.html.includes(`run ${system} --timeline`));
    const drawn = Buffer.from(graph.webview.html.match(/base64,([^"]+)/)[1], "base64").toString();
    assert.ok(drawn.startsWith("<svg>") && drawn.includes(`graph ${system} -o`));
    for (const panel of stand.panels) {
        assert.ok(panel.webview.html.includes("Content-Security-Policy"));
        panel.webview.html = "";
    }
    await stand.saved[0]({ uri: { fsPath: path.join(folder, "b.c") } });
    assert.ok(timeline.webview.html && graph.webview.html);
    stand.program = program(folder, "echo 'error[E0302]: <a> & b' >&2; exit 1");
    await stand.commands["camkes.graph"](system);
    assert.ok(graph.webview.html.includes("error[E0302]: &lt;a> &amp; b"));
});

test("a system is debugged by camkes debug --dap", async () => {
    const stand = standIn();
    await extensionWith(stand).activate({ subscriptions: [] });
    assert.strictEqual(stand.commands["camkes.debug"]("/w/a.camkes").program, "/w/a.camkes");
    assert.strictEqual(stand.debugging.resolveDebugConfiguration(undefined, {}).program, "${workspaceFolder}");
    const configuration = { program: "/w", at: "missed", breakIn: ["store.s"], duration: "2s" };
    const adapter = stand.adapters.createDebugAdapterDescriptor({ configuration });
    assert.deepStrictEqual([adapter.command, ...adapter.args], ["camkes", "debug", "--dap", "/w", "--at", "missed", "--for", "2s", "--debug", "store.s"]);
    const declared = description.contributes.debuggers[0].configurationAttributes.launch.properties;
    assert.deepStrictEqual(Object.keys(declared), ["program", "breakIn", "at", "duration", "debug", "arguments"]);
});

test("every page of the walkthrough is there, and its commands exist", () => {
    const known = new Set(description.contributes.commands.map((each) => each.command));
    for (const step of description.contributes.walkthroughs[0].steps) {
        assert.ok(fs.existsSync(path.join(__dirname, step.media.markdown)));
        for (const [, command] of step.description.matchAll(/\(command:([\w.]+)/g)) {
            assert.ok(known.has(command) || command.startsWith("workbench."), command);
        }
    }
});
