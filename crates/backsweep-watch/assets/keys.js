// Shortcuts. They work wherever the focus is, except where the key means something to the focused control itself.

import { $ } from "./shown.js";

const MOVES = { ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowDown: [1, 0], ArrowLeft: [0, -1] };
const TYPED = new Set(["number", "text", "search", "file"]);

/** Whether a key belongs to the control that has the focus. */
function isTaken(key, target) {
  const { tagName, type } = target;
  if (tagName === "SELECT" || tagName === "TEXTAREA") return true;
  if (tagName === "BUTTON" || tagName === "SUMMARY" || tagName === "A") return key === " " || key === "Enter";
  if (tagName !== "INPUT") return false;
  if (type === "number") return !"scruwo ".includes(key); // None of these can be typed into a number.
  if (TYPED.has(type)) return true;
  return key === " " || key in MOVES; // sliders and radio buttons
}

/** Calls back for every shortcut. */
export function listenForKeys({ views, pointer, isReady, position, act }) {
  const moveCursor = (view, [down, right]) => {
    const now = view.cursor ?? position();
    const row = Math.max(0, Math.min(view.rows.length - 1, Math.floor(now / view.width) + (view.cursor === null ? 0 : down)));
    const column = Math.max(0, Math.min(view.width - 1, (now % view.width) + (view.cursor === null ? 0 : right)));
    pointer.point(view, row * view.width + column, true);
  };
  window.addEventListener("keydown", (event) => {
    if (!isReady() || document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (isTaken(key, event.target)) return;
    const view = views[1].canvas === document.activeElement ? views[1] : views[0];
    const names = { " ": "toggle", s: "step", c: "cycle", r: "reset", u: "undo", w: "wall", o: "shortcut", "+": "faster", "=": "faster", "-": "slower", "?": "tour" };
    if (key in names) act(names[key]);
    else if (key in MOVES) moveCursor(view, MOVES[key]);
    else if (key === "Escape") pointer.point(view, null, false);
    else if (key === "Enter" && view.cursor !== null) pointer.pressKey(view);
    else return;
    event.preventDefault();
  });
  // After a click the focus returns to the page, so that shortcuts keep working. With the keyboard it stays.
  document.addEventListener("click", (event) => {
    const isPointer = event.detail > 0 || event.pointerType;
    const focused = document.activeElement;
    if (!isPointer || !focused || focused.closest("dialog")) return;
    if (focused.matches("button, summary, input[type=radio], input[type=checkbox]")) focused.blur();
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("select, input[type=range], input[type=file]") && !event.target.matches(":focus-visible")) event.target.blur();
  });
  for (const slider of [$("speed"), $("scrub")]) slider.addEventListener("pointerup", () => slider.blur());
}
