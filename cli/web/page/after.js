// Runs once textual-serve's terminal is defined, and before it starts: where it connects to, when, and the focus.
"use strict";

const start = window.onload;
// On a phone letters are smaller, so that lines of code have 60 columns; a letter is 0.6 times as wide as high.
const size = Math.min(14, Math.max(10, Math.floor(window.innerWidth / 60 / 0.6)));
const faces = ["", "bold ", "italic ", "italic bold "].map((face) => `${face}${size}px`);
const codes = {
  ArrowUp: 38, ArrowDown: 40, ArrowLeft: 37, ArrowRight: 39, PageUp: 33, PageDown: 34,
  Tab: 9, Enter: 13, Escape: 27, q: 81,
};

// A key of the page's own, for screens without a keyboard, as if it was pressed in the terminal.
const press = (key) => {
  const typed = document.querySelector(".xterm-helper-textarea");
  const told = { key, keyCode: codes[key], which: codes[key], bubbles: true, cancelable: true };
  // alone: the terminal sends a letter that is pressed, and would send it again when it is typed
  typed?.dispatchEvent(new KeyboardEvent("keydown", told));
};

window.onload = async (event) => {
  const terminal = document.getElementById("terminal");
  terminal.dataset.fontSize = size;
  for (const button of document.querySelectorAll(".keys button")) {
    // the focus stays where keys go; on a phone no keyboard comes up for it
    button.onpointerdown = (event) => event.preventDefault();
    button.onclick = () => press(button.dataset.key);
  }
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
