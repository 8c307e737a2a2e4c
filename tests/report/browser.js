// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
//
// Appended to a page by test_browser.py: what of its text is hard to read, and whether it is wider than the window.
"use strict";

function parts(colour) {
    const found = /rgba?\(([^)]*)\)/.exec(colour);
    const [r, g, b, a = 1] = found ? found[1].split(/[ ,/]+/).map(Number) : [0, 0, 0, 0];
    return { r, g, b, a };
}

function luminance({ r, g, b }) {
    const [x, y, z] = [r, g, b].map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}

function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
}

/** The colour that an element paints below text, or null. Of a pattern it is that of its ground. */
function ground(element) {
    const style = getComputedStyle(element);
    if (!(element instanceof SVGElement)) {
        return parts(style.backgroundColor).a ? parts(style.backgroundColor) : null;
    }
    if (!["rect", "path", "circle", "ellipse", "polygon"].includes(element.tagName)) {
        return null;
    }
    const pattern = /url\("#([^"]*)"\)/.exec(style.fill);
    return pattern ? ground(document.getElementById(pattern[1]).querySelector("rect")) : parts(style.fill).a ? parts(style.fill) : null;
}

/** How much of an element is painted over what is below it. */
function opacity(element) {
    return element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;
}

function blended(ink, share, paper) {
    return Object.fromEntries(["r", "g", "b"].map((each) => [each, ink[each] * share + paper[each] * (1 - share)]));
}

function unreadable() {
    const style = document.createElement("style");
    style.textContent = "* { pointer-events: all !important; }";
    document.head.append(style);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    let texts = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement, range = document.createRange();
        range.selectNodeContents(node);
        let box = range.getBoundingClientRect();
        const view = element.closest(".wide")?.getBoundingClientRect() || { left: 0, right: innerWidth };
        if (box.left < view.left || box.right > view.right) { // in what is wider than the window, and is scrolled
            element.scrollIntoView({ block: "nearest", inline: "center" });
            box = range.getBoundingClientRect();
        }
        const shown = node.data.trim() && box.width && opacity(element) && !element.closest("script, style, title, defs");
        const at = shown ? document.elementsFromPoint(Math.min(box.left + 2, innerWidth - 1), box.top + box.height / 2) : [];
        if (!at.length) {
            continue;
        }
        texts += 1;
        const own = getComputedStyle(element), ink = parts(element instanceof SVGElement ? own.fill : own.color);
        const below = at.slice(Math.max(at.indexOf(element), 0)).map((each) => (each === element && each instanceof SVGElement ? null : ground(each))).find(Boolean);
        const paper = below || { r: 255, g: 255, b: 255 };
        const value = contrast(blended(ink, ink.a * opacity(element), paper), paper);
        const large = parseFloat(own.fontSize) >= 24 || (parseFloat(own.fontSize) >= 18.66 && Number(own.fontWeight) >= 700);
        if (value < (large ? 3 : 4.5)) {
            found.push(`${node.data.trim()}: ${value.toFixed(2)} (${own.fill || own.color})`);
        }
    }
    return { texts, found };
}

/** Whether the colours of an element are inverted, as those of a drawing on white paper in a dark page. */
function inverted(element) {
    return element && (getComputedStyle(element).filter.includes("invert") || inverted(element.parentElement));
}

/** Large areas that are white. */
function white() {
    const large = [...document.body.querySelectorAll("*")].filter((each) => {
        const box = each.getBoundingClientRect();
        return box.width > 200 && box.height > 100 && !each.closest("defs");
    });
    return large.filter((each) => ground(each) && luminance(ground(each)) > 0.8 && !inverted(each)).map((each) => each.tagName);
}

/** What keys do to a timeline: the window and what is chosen after each. */
function keys(names) {
    return names.map((key) => {
        const pressed = key === "Shift" ? { key: "ArrowRight", shiftKey: true } : { key };
        document.body.dispatchEvent(new KeyboardEvent("keydown", { ...pressed, bubbles: true }));
        const table = document.getElementById("statistics");
        return { key, from, to, lane, chosen: chosen && chosen.slice(0, 2), about: about.textContent, servers: servers.length, measured: selection(), rows: table.hidden ? 0 : table.querySelectorAll("tbody tr").length };
    });
}

addEventListener("load", () => {
    const done = {
        dark: parts(getComputedStyle(document.body).backgroundColor).r < 128,
        wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        unnamed: [...document.querySelectorAll("button, input, [tabindex]")].filter((each) => !(each.getAttribute("aria-label") || each.textContent.trim())).map((each) => each.outerHTML),
        white: white(),
        ...unreadable(),
        keys: document.getElementById("chart") ? keys(["+", "ArrowRight", "Home", "0", "ArrowDown", ".", ".", ",", "End", "-", "s", "m", "Shift", "Escape"]) : [],
    };
    const report = document.createElement("pre");
    report.id = "report";
    report.textContent = JSON.stringify(done);
    document.body.append(report);
});
