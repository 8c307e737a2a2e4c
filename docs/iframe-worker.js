// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
//
// Pages that are read from a disk may not start workers. The search is one: here it runs in a frame instead.
"use strict";
if (location.protocol === "file:") {
    window.Worker = class extends EventTarget {
        constructor(url) {
            super();
            const frame = document.createElement("iframe");
            frame.hidden = true;
            document.body.append(frame);
            this.inside = frame.contentWindow;
            this.waiting = [];
            this.inside.postMessage = (data) => {
                const event = new MessageEvent("message", { data });
                this.dispatchEvent(event);
                this.onmessage?.(event);
            };
            const script = this.inside.document.createElement("script");
            script.src = url;
            script.onload = () => {
                const waiting = this.waiting;
                this.waiting = null;
                waiting.forEach((data) => this.deliver(data));
            };
            this.inside.document.body.append(script);
        }
        postMessage(data) {
            if (this.waiting) {
                this.waiting.push(data);
            } else {
                this.deliver(data);
            }
        }
        deliver(data) {
            this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
        }
        terminate() {}
    };
}
