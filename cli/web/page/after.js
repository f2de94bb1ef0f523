// Runs once textual-serve's terminal is defined, and before it starts: where it connects to, when, and the focus.
"use strict";

const start = window.onload;
const faces = ["14px", "bold 14px", "italic 14px", "italic bold 14px"];

window.onload = async (event) => {
  const terminal = document.getElementById("terminal");
  terminal.dataset.sessionWebsocketUrl = location.origin.replace(/^http/, "ws") + "/ws";
  document.getElementById("again").onclick = () => location.reload();
  // the terminal measures its cells once: not before the font is there
  await Promise.allSettled(faces.map((face) => document.fonts.load(`${face} "Roboto Mono"`)));
  // keys go to the app without a click into the page first
  const focus = () => document.querySelector(".xterm-helper-textarea")?.focus();
  const observer = new MutationObserver(focus);
  observer.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  start(event);
};
