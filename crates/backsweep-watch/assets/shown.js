// Small things that several parts of the page use.

export const $ = (id) => document.getElementById(id);

export function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  if (name) made.className = name;
  return made;
}

/** Sets a text only if it differs, to avoid needless layout. */
export function put(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

// No number is −0.
const minus = (text) => (Number(text) === 0 ? text.replace("-", "") : text.replaceAll("-", "−"));

/** A number with this many digits after the point; a dash if there is none. */
export const fixed = (number, digits) => (number === null || number === undefined ? "–" : minus(number.toFixed(digits)));
/** A count, in millions if it is large. */
export const count = (number) => (number >= 1e6 ? `${(number / 1e6).toFixed(number >= 1e8 ? 0 : 1)}M` : Math.round(number).toLocaleString("en"));
/** A count with its noun. */
export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
/** A number in three significant digits. */
export const rough = (number) => minus(Math.abs(number) >= 1000 ? number.toFixed(0) : String(+number.toPrecision(3)));
/** A number in a small place: at most three digits. */
export const brief = (number) => {
  const size = Math.abs(number);
  return size >= 1e4 ? minus(number.toExponential(0).replace("e+", "e")) : minus(String(+number.toFixed(size >= 99.5 ? 0 : size >= 9.95 ? 1 : 2)));
};
/** A change with its sign. */
export const signed = (number) => (number > 0 ? "+" : "") + rough(number);
/** A number with enough digits to show a change of this size. */
export const precisely = (number, change) => fixed(number, Math.max(1, Math.min(6, 1 - Math.floor(Math.log10(Math.abs(change))))));
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The directions of the compass, clockwise; bit k of an action's pointer is the k-th. */
const WINDS = ["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"];
const SIGNS = ["↑", "↗", "→", "↘", "↓", "↙", "←", "↖"];
/** The bits of north, east, south and west. */
export const FOUR = [1, 4, 16, 64];

/** The actions of a cell as {sign, word}; `pointers` are one row for all cells, or one per cell. */
export function actionsOf(pointers, cell) {
  const row = pointers.length === 1 ? pointers[0] : (pointers[cell] ?? []);
  return row.map((bit, a) => (bit ? { sign: SIGNS[Math.log2(bit)], word: WINDS[Math.log2(bit)] } : { sign: "", word: `action ${a}` }));
}

/** Names cells of a maze of this width; in a single row, by their number. */
export const namer = (width, height) => (i) => (height === 1 ? `cell ${i + 1}` : `row ${Math.floor(i / width) + 1}, column ${(i % width) + 1}`);

export const calm = matchMedia("(prefers-reduced-motion: reduce)");
