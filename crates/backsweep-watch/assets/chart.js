// A chart of one or two curves, drawn by hand on a canvas.

const CHART_TIME = 80; // milliseconds between two drawings: a curve of hundreds of means hardly moves
const MARGIN = { left: 44, right: 12, top: 8, bottom: 24 };

function ticks(low, high, n) {
  const rough = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((step) => step >= rough * 0.999);
  const list = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) list.push(k * step);
  return list;
}

const short = (number) => {
  const size = Math.abs(number);
  if (size >= 1e6) return `${+(number / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(number / 1e3).toPrecision(3)}k`;
  return String(+number.toPrecision(4)).replace("-", "−");
};

export class Chart {
  /** `unit` names what the horizontal axis counts; `fromZero` keeps 0 in view. */
  constructor(canvas, { unit, fromZero }) {
    this.canvas = canvas;
    this.unit = unit;
    this.fromZero = fromZero;
    this.curves = [];
    this.lines = [];
    this.drawn = -Infinity;
    this.note = ""; // what is said instead of a curve
  }

  /** Takes curves of {means, stride}, and the heights of lines across: a dashed one, then a dotted one. */
  set(curves, lines) {
    this.curves = curves;
    this.lines = lines;
    this.dirty = true;
  }

  draw() {
    const now = performance.now();
    if (!this.dirty || now - this.drawn < CHART_TIME) return;
    this.dirty = false;
    this.drawn = now;
    const scale = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width) return;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
    }
    const c = this.canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    if (this.note && this.curves.every((curve) => curve.means.length === 0)) {
      c.fillStyle = read("--dim");
      c.font = "13px system-ui, sans-serif";
      c.textAlign = "center";
      c.fillText(this.note, width / 2, height / 2, width - 24);
      return;
    }
    const [low, high] = this.range();
    const longest = Math.max(10, ...this.curves.map((curve) => curve.means.length * curve.stride));
    const x = (n) => MARGIN.left + (n / longest) * (width - MARGIN.left - MARGIN.right);
    const y = (v) => MARGIN.top + ((high - v) / (high - low)) * (height - MARGIN.top - MARGIN.bottom);

    c.font = "12px system-ui, sans-serif";
    c.lineWidth = 1;
    c.textBaseline = "middle";
    c.textAlign = "right";
    for (const tick of ticks(low, high, 4)) {
      c.strokeStyle = read("--grid");
      c.beginPath();
      c.moveTo(MARGIN.left, Math.round(y(tick)) + 0.5);
      c.lineTo(width - MARGIN.right, Math.round(y(tick)) + 0.5);
      c.stroke();
      c.fillStyle = read("--dim");
      c.fillText(short(tick), MARGIN.left - 7, y(tick));
    }
    c.textAlign = "center";
    const marks = ticks(0, longest, width < 420 ? 3 : 5);
    for (const tick of marks) {
      const last = tick === marks[marks.length - 1];
      c.textAlign = last ? "right" : "center";
      c.fillText(last ? `${short(tick)} ${this.unit}` : short(tick), last ? Math.min(width - 4, x(tick) + 40) : x(tick), height - 9);
    }
    c.save();
    c.beginPath();
    c.rect(MARGIN.left, 0, width - MARGIN.left, height - MARGIN.bottom + 2);
    c.clip();
    this.curves.forEach((curve, k) => {
      c.strokeStyle = read(k ? "--two" : "--one");
      c.lineWidth = 1.8;
      c.lineJoin = "round";
      c.beginPath();
      curve.means.forEach((mean, i) => c.lineTo(x((i + 0.5) * curve.stride), y(mean)));
      c.stroke();
      if (curve.means.length === 1) {
        c.fillStyle = c.strokeStyle;
        c.beginPath();
        c.arc(x(curve.stride / 2), y(curve.means[0]), 2.5, 0, 2 * Math.PI);
        c.fill();
      }
    });
    c.restore();
    this.lines.forEach((at, k) => {
      c.strokeStyle = read(k ? "--dim" : "--text");
      c.setLineDash(k ? [2, 4] : [5, 5]);
      c.lineWidth = 1.3;
      c.beginPath();
      c.moveTo(MARGIN.left, y(at));
      c.lineTo(width - MARGIN.right, y(at));
      c.stroke();
      c.setLineDash([]);
    });
  }

  /** The vertical range: all but the very worst early points, the lines, and room above it. */
  range() {
    const all = this.curves.flatMap((curve) => [...curve.means]).sort((a, b) => a - b);
    let low = all.length ? all[Math.floor(all.length * 0.01)] : this.fromZero ? 0 : -1;
    let high = all.length ? all[all.length - 1] : this.fromZero ? 1 : 0;
    for (const at of this.lines) {
      const room = Math.min(2, 0.1 * Math.abs(at) + 0.02); // Some worlds pay 1 in total.
      low = Math.min(low, at - room);
      high = Math.max(high, at + room);
    }
    if (this.fromZero) low = Math.min(0, low);
    if (high - low < 1e-9) high = low + 1;
    const room = (high - low) * 0.06;
    return [this.fromZero ? low : low - room, high + 2 * room];
  }
}
