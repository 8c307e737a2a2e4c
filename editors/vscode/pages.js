// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
// The timeline and the graph beside the text: pages that `camkes run --timeline` and `camkes graph` write.
"use strict";

const fs = require("node:fs/promises");
const os = require("node:os");
const path = require("node:path");
const vscode = require("vscode");
const { output } = require("./testing");

/** What writes the page of each view, into a file with this ending. */
const VIEWS = {
    timeline: { title: "Timeline", ending: "html", words: (target, file) => ["run", target, "--timeline", file, "-q"] },
    graph: { title: "Graph", ending: "svg", words: (target, file) => ["graph", target, "-o", file, "-q"] },
};

/** The text of a page for the editor: scripts and styles are those of the page itself, nothing is fetched. */
function pageOf(text, ending) {
    const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline';">`;
    if (ending === "svg") {
        return `<!DOCTYPE html><html><head>${policy}<style>body { background: white; margin: 0 } svg { max-width: 100%; height: auto }</style></head><body tabindex="0">${text.replace(/^<\?xml[^>]*\?>/, "")}</body></html>`;
    }
    return text.replace(/<head>/i, (head) => `${head}${policy}`);
}

/** Views of a system, one panel for each view and target; they are made again when a file of it is saved. */
class Pages {
    constructor(program) {
        this.program = program;
        this.panels = new Map();
    }

    async open(view, target) {
        const key = `${view}\n${target}`;
        let panel = this.panels.get(key);
        if (panel) {
            panel.reveal(undefined, true);
        } else {
            const title = `${VIEWS[view].title}: ${path.basename(target)}`;
            const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false };
            panel = vscode.window.createWebviewPanel(`camkes.${view}`, title, place, { enableScripts: true, retainContextWhenHidden: true });
            panel.onDidDispose(() => this.panels.delete(key));
            this.panels.set(key, panel);
        }
        await this.show(view, target, panel);
    }

    async show(view, target, panel) {
        const { words, ending, title } = VIEWS[view];
        const folder = await fs.mkdtemp(path.join(os.tmpdir(), "camkes-"));
        try {
            const file = path.join(folder, `page.${ending}`);
            const result = await vscode.window.withProgress(
                { location: vscode.ProgressLocation.Window, title: `CAmkES: ${title.toLowerCase()}` },
                () => output(this.program(), words(target, file), path.dirname(target)),
            );
            try {
                panel.webview.html = pageOf(await fs.readFile(file, "utf8"), ending);
            } catch {
                const said = result.errors || result.error?.message || "nothing was written";
                const plain = said.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
                panel.webview.html = pageOf(`<svg width="0" height="0"></svg><pre style="color: black">${plain}</pre>`, "svg");
            }
        } finally {
            await fs.rm(folder, { recursive: true, force: true });
        }
    }

    /** A file was saved: the views of systems in its folder, or above it, are made again. */
    async saved(document) {
        for (const [key, panel] of this.panels) {
            const [view, target] = key.split("\n");
            const folder = /\.camkes$/.test(target) ? path.dirname(target) : target;
            if (document.uri.fsPath.startsWith(folder + path.sep) && panel.visible) {
                await this.show(view, target, panel);
            }
        }
    }
}

module.exports = { Pages, VIEWS, pageOf };
