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

const POLICY = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline';">`;
const STYLE = ":root { color-scheme: light dark } body { background: Canvas; color: CanvasText } img { max-width: 100% }";

/** A page of the editor: with light or dark colours as the editor's. */
function page(body) {
    return `<!DOCTYPE html><html lang="en"><head>${POLICY}<style>${STYLE}</style></head><body tabindex="0">${body}</body></html>`;
}

/** The text of a view: scripts and styles are those of the page itself, nothing is fetched. A picture is by itself, as its
 *  style is for all of its document. */
function pageOf(text, ending, title) {
    if (ending === "svg") {
        const data = Buffer.from(text).toString("base64");
        return page(`<img alt="${title}" src="data:image/svg+xml;base64,${data}">`);
    }
    return text.replace(/<head>/i, (head) => `${head}${POLICY}`);
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
                panel.webview.html = pageOf(await fs.readFile(file, "utf8"), ending, title);
            } catch {
                const said = result.errors || result.error?.message || "nothing was written";
                const plain = said.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
                panel.webview.html = page(`<pre>${plain}</pre>`);
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
