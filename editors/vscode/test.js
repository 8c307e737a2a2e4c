// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
// test.js FOLDER...: the grammar colours the files in these folders, and the extension starts a server (with a stand-in
// for the editor), registers all commands of package.json, and offers tasks.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const Module = require("node:module");
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

test("the extension registers what package.json declares", async () => {
    const commands = {};
    let started;
    let tasks;
    const vscode = {
        TaskGroup: { Build: "build", Test: "test" },
        TaskScope: { Workspace: 2 },
        ProcessExecution: class { constructor(program, words) { Object.assign(this, { program, words }); } },
        Task: class { constructor(definition, scope, name, source, execution, matchers) { Object.assign(this, { definition, name, execution, matchers }); } },
        commands: { registerCommand: (name, run) => { commands[name] = run; } },
        tasks: { registerTaskProvider: (_, provider) => { tasks = provider; }, executeTask: (task) => task },
        window: { showErrorMessage: (text) => assert.fail(text) },
        workspace: {
            isTrusted: true,
            workspaceFolders: [{ name: "w" }],
            getConfiguration: () => ({ get: (_, value) => value }),
            onDidGrantWorkspaceTrust: () => undefined,
        },
    };
    const client = class {
        constructor(...settings) { started = settings; }
        async start() {}
        async stop() {}
    };
    const stand = { vscode, "vscode-languageclient/node": { LanguageClient: client } };
    const load = Module._load;
    Module._load = (name, ...rest) => stand[name] || load(name, ...rest);
    const extension = require("./extension.js");
    Module._load = load;
    await extension.activate({ subscriptions: [] });
    assert.deepStrictEqual(Object.keys(commands).sort(), description.contributes.commands.map((each) => each.command).sort());
    assert.deepStrictEqual(started[2], { command: "camkes", args: ["lsp"] });
    assert.strictEqual(started[3].initializationOptions.trusted, true);
    assert.deepStrictEqual(tasks.provideTasks().map((each) => each.definition.command), ["check", "run", "test", "analyze"]);
    assert.deepStrictEqual(commands["camkes.analyze"]("/p").execution.words, ["analyze", "/p", "--format", "oneline"]);
    await extension.deactivate();
});
