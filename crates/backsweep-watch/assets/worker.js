// The engine in a worker: commands in, frames out. The engine works in slices of a few milliseconds; messages are handled
// between them.

const imports = { env: { now: () => performance.now() } };
const loaded = load();
let engine = null;
let hasPlace = false; // whether the page has taken the last frame
let rests = false;
let timer = 0;
// A timer waits at least four milliseconds; a message to oneself does not wait. There is one at a time: more would delay what
// the page sends.
const soon = new MessageChannel();
let isSoon = false;
soon.port1.onmessage = () => {
  isSoon = false;
  turn();
};

async function load() {
  const answer = await fetch("engine.wasm");
  if (!answer.ok) throw new Error(`The engine cannot be loaded: status ${answer.status}.`);
  // Not streamed: that needs a media type which not every server sends.
  const { instance } = await WebAssembly.instantiate(await answer.arrayBuffer(), imports);
  engine = instance.exports;
  const wrong = read(engine.start(1));
  if (wrong) throw new Error(wrong);
}

const read = (length) => new TextDecoder().decode(new Uint8Array(engine.memory.buffer, length ? engine.output() : 0, length));

function write(text) {
  const bytes = new TextEncoder().encode(text);
  // The address may be beyond 2 GiB.
  new Uint8Array(engine.memory.buffer, engine.input(bytes.length) >>> 0, bytes.length).set(bytes);
}

/** Works for a slice, shows what there is, and comes back when there is more to do. */
function turn() {
  clearTimeout(timer);
  if (rests || engine === null) return;
  const wait = engine.work();
  show();
  if (wait > 0) timer = setTimeout(turn, Math.min(wait, 1e6));
  else if (!isSoon) {
    isSoon = true;
    soon.port2.postMessage(null);
  }
}

function show() {
  const shown = read(engine.shown(hasPlace ? 1 : 0));
  if (!shown) return;
  hasPlace = false;
  self.postMessage({ shown });
}

const parsed = (length) => (length ? JSON.parse(read(length)) : null);
const ANSWERS = {
  about: () => parsed(engine.choices()),
  tour: () => parsed(engine.tour()),
  cell: (index) => parsed(engine.cell(index)),
  values: () => parsed(engine.values()),
};

self.addEventListener("message", async ({ data: { id, what, value } }) => {
  if (what === "next") hasPlace = true;
  else if (what === "rest" || what === "wake") rests = what === "rest";
  try {
    await loaded;
    if (what in ANSWERS) self.postMessage({ id, value: ANSWERS[what](value) });
    else if (what === "order") order(id, value);
  } catch (error) {
    self.postMessage({ id, error: error.message });
    // A panic ends the engine for good.
    if (error instanceof WebAssembly.RuntimeError) self.setTimeout(() => { throw error; });
  }
  if (engine) turn();
});

function order(id, value) {
  write(JSON.stringify(value));
  const refused = parsed(engine.command(id));
  if (refused) self.postMessage({ id, error: refused.error });
  else if (rests) {
    // A command of a hidden page is carried out all the same.
    engine.work();
    show();
  }
}
