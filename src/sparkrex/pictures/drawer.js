"use strict";
// Draws pictures on canvases, and lets people look closer. It fetches nothing, and every text is written as text. What it
// draws is what `svg.py` draws, in pixels of the moment.
//
// `places` are the elements that it fills: panels, legend, notes, tip, and the button that shows everything again. `take`
// gives it a picture. With `isCloser` that is a range of the one before in more detail: what can be seen stays where it
// is. `onView` is told the range that people look at. `zoom` shows a range.

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
const doubles = (text) => new Float64Array(bytes(text));
const integers = (text) => new Int32Array(bytes(text));
const LEFT = 74, RIGHT = 16, LANE = 16, AXIS = 32, BOXES = 84, NO_MORE = 8;

function unpacked(given) {
  return {
    ...given,
    x: doubles(given.x), y: doubles(given.y),
    bands: { first: doubles(given.bands.first), last: doubles(given.bands.last), lane: integers(given.bands.lane),
      kind: integers(given.bands.kind), texts: given.bands.texts },
    marks: { point: integers(given.marks.point), variable: integers(given.marks.variable), joins: integers(given.marks.joins) },
    stretches: { band: integers(given.stretches.band), variable: integers(given.stretches.variable),
      first: doubles(given.stretches.first), last: doubles(given.stretches.last) },
    boxes: given.boxes && { name: given.boxes.name, texts: given.boxes.texts, first: doubles(given.boxes.first),
      last: doubles(given.boxes.last), value: doubles(given.boxes.value) },
  };
}

// --- Ticks -----------------------------------------------------------------------------------------------------------

const DAY = 86400;
const STEPS = [];
for (const unit of [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1]) for (const one of [1, 2, 5]) STEPS.push(one * unit);
STEPS.push(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200);
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function numberStep(low, high, most) {
  const span = high > low ? high - low : Math.max(Math.abs(low), 1);
  const power = 10 ** Math.floor(Math.log10(span / most));
  return power * [1, 2, 5, 10, 20].find((factor) => span / (power * factor) <= most);
}

function numberText(value, step) {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 1e15 || step < 1e-9) return value.toPrecision(6);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return (value + 0).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function fullText(value) {
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? value.toLocaleString("en-US") : String(+value.toPrecision(10));
}

function moment(axis, at) {
  const micros = Math.round(at * 1e6);
  const seconds = Math.floor(micros / 1e6);
  const date = new Date((axis.origin + seconds) * 1000);
  if (Number.isNaN(date.getTime())) return { day: String(axis.origin), clock: at.toFixed(6) };
  const text = date.toISOString();
  return { day: text.slice(0, text.indexOf("T")), clock: text.slice(-13, -5) + "." + String(micros - seconds * 1e6).padStart(6, "0") };
}

function ticksOf(axis, low, high, most) {
  if (axis.scale === "category") {
    const step = Math.max(1, Math.ceil(axis.categories.length / most));
    return axis.categories.map((text, at) => ({ at, text, below: "" })).filter((tick) => tick.at % step === 0);
  }
  if (axis.scale === "time") return timeTicks(axis, low, high, most);
  const step = Math.max(numberStep(low, high, most), axis.grain), found = [];
  for (let n = Math.ceil(low / step - 1e-9); n <= Math.floor(high / step + 1e-9); n++) {
    found.push({ at: n * step, text: numberText(n * step, step), below: "" });
  }
  return found;
}

function timeTicks(axis, low, high, most) {
  const step = STEPS.find((one) => one >= axis.grain && (high - low) / one <= most), found = [];
  if (step !== undefined) {
    const digits = step >= 1 ? 0 : -Math.floor(Math.log10(step) + 1e-9);
    let known = "";
    for (let n = Math.ceil(low / step - 1e-9); n <= Math.floor(high / step + 1e-9); n++) {
      const { day, clock } = moment(axis, n * step);
      const text = step >= 60 ? clock.slice(0, 5) : clock.slice(0, 8 + (digits ? digits + 1 : 0));
      found.push({ at: n * step, text, below: day === known ? "" : day });
      known = day;
    }
    return found;
  }
  const span = (high - low) / DAY;
  let year = "";
  const add = (date, text) => {
    const own = String(date.getUTCFullYear());
    found.push({ at: date.getTime() / 1000 - axis.origin, text, below: own === year || text === own ? "" : own });
    year = own;
  };
  const begin = new Date((axis.origin + low) * 1000), end = new Date((axis.origin + high) * 1000);
  const days = [1, 2, 7, 14].find((one) => span / one <= most);
  if (days !== undefined) {
    let day = Math.ceil(begin / (DAY * 1000) / days - 1e-12) * days + (days >= 7 ? 4 : 0);  // weeks begin on Monday
    if (days >= 7 && (day - days) * DAY * 1000 >= begin) day -= days;
    for (; day * DAY * 1000 <= end; day += days) {
      const date = new Date(day * DAY * 1000);
      add(date, `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`);
    }
    return found;
  }
  const months = [1, 3, 6, ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((n) => 12 * n)]
    .find((one) => span / 30.4 / one <= most);
  if (months === undefined || Number.isNaN(begin.getTime())) return [];
  let number = Math.floor((begin.getUTCFullYear() * 12 + begin.getUTCMonth()) / months) * months;
  for (; ; number += months) {
    const date = new Date(0);
    date.setUTCFullYear(Math.floor(number / 12), number % 12, 1);
    if (date > end || Number.isNaN(date.getTime())) return found;
    if (date >= begin) add(date, months < 12 ? MONTHS[date.getUTCMonth()] : String(date.getUTCFullYear()));
  }
}

function positionText(axis, at) {
  if (axis.scale === "category") return axis.categories[at] ?? "";
  if (axis.scale === "number") return fullText(at);
  const { day, clock } = moment(axis, at);
  return `${day} ${clock.replace(/\.?0+$/, "") || clock}`;
}
function firstAtLeast(values, bound) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < bound) low = middle + 1; else high = middle;
  }
  return low;
}

// --- Drawing ---------------------------------------------------------------------------------------------------------

function showPicture({ panels: place, legend, notes, tip, reset }, onView) {
  const isDark = matchMedia("(prefers-color-scheme: dark)");
  let data = null, home = { low: 0, high: 1 }, view = { ...home }, panels = [];

  const colour = (list, number) => data.colours[list + (isDark.matches ? "_dark" : "")][number % data.colours[list].length];
  const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

  function laneCount(panel) {
    const { lane } = panel.bands;
    let most = 0;
    for (const one of lane) most = Math.max(most, one + 1);
    panel.hidden = Math.max(0, most - NO_MORE);
    panel.matchLanes = Math.min(most, NO_MORE);
    return panel.matchLanes + (data.style === "overlapping" && most ? data.variables.length : 0);
  }

  function measure(panel) {
    panel.lanes = laneCount(panel);
    const plot = data.y === null ? 34 : panels.length === 1 ? 290 : panels.length <= 3 ? 190 : 130;
    panel.plotBottom = 6 + plot;
    panel.boxesTop = panel.plotBottom + 16;
    panel.boxesBottom = panel.boxes ? panel.boxesTop + BOXES : panel.plotBottom;
    panel.lanesTop = panel.boxesBottom + (panel.lanes ? 6 : 0);
    panel.axis = panel.lanesTop + panel.lanes * LANE + (panel.hidden ? 14 : 0);
    panel.height = panel.axis + AXIS;
  }

  function pixels(panel) {
    const width = panel.canvas.clientWidth;
    const scale = (width - LEFT - RIGHT) / (view.high - view.low);
    return {
      width, right: width - RIGHT,
      at: (x) => LEFT + (x - view.low) * scale,
      from: (pixel) => view.low + (pixel - LEFT) / scale,
    };
  }

  function yRange(panel) {
    if (data.y?.categories.length) return [-0.5, data.y.categories.length - 0.5];
    let begin = firstAtLeast(panel.x, view.low), end = firstAtLeast(panel.x, view.high + (view.high - view.low) * 1e-9);
    if (begin === end) { begin = Math.max(begin - 1, 0); end = Math.min(end + 1, panel.x.length); }  // between two rows
    let low = Infinity, high = -Infinity;
    for (let n = begin; n < end; n++) {
      if (panel.y[n] < low) low = panel.y[n];
      if (panel.y[n] > high) high = panel.y[n];
    }
    if (low > high) return [0, 1];
    const room = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
    return [low - room, high + room];
  }

  function draw(panel) {
    const ratio = devicePixelRatio || 1, canvas = panel.canvas, space = pixels(panel);
    if (space.width <= LEFT + RIGHT + 20) return;
    canvas.width = Math.round(space.width * ratio);
    canvas.height = Math.round(panel.height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, space.width, panel.height);
    pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    pen.lineJoin = pen.lineCap = "round";
    const [low, high] = yRange(panel);
    const up = data.y === null ? () => panel.plotBottom - 11
      : (y) => panel.plotBottom - (y - low) / (high - low) * (panel.plotBottom - 6);
    drawAxes(pen, panel, space, low, high, up);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, space.right - LEFT, panel.axis);
    pen.clip();
    drawBands(pen, panel, space);
    drawSeries(pen, panel, space, up);
    drawMarks(pen, panel, space, up);
    drawLanes(pen, panel, space);
    if (panel.boxes) drawBoxes(pen, panel, space);
    pen.restore();
    drawPointer(pen, panel, space, up);
  }

  function drawAxes(pen, panel, space, low, high, up) {
    pen.lineWidth = 1;
    pen.strokeStyle = themed("grid");
    pen.fillStyle = themed("pale");
    let reached = -Infinity;
    const name = `${data.x.name} →`;
    pen.textAlign = "center";
    for (const tick of ticksOf(data.x, view.low, view.high, Math.max(2, Math.floor((space.right - LEFT) / 84)))) {
      const x = space.at(tick.at), half = Math.max(pen.measureText(tick.text).width, pen.measureText(tick.below).width) / 2;
      stroke(pen, x, 6, x, panel.axis);
      if (x - half < reached || x + half > space.width) continue;
      reached = x + half + 8;
      pen.fillText(tick.text, x, panel.axis + 13);
      if (x + half + 8 < space.right - pen.measureText(name).width) pen.fillText(tick.below, x, panel.axis + 25);
    }
    pen.textAlign = "right";
    pen.fillText(name, space.right, panel.axis + 25);
    if (data.y !== null) {
      const most = data.y.categories.length ? 12 : Math.max(2, Math.floor((panel.plotBottom - 6) / 30));
      for (const tick of ticksOf(data.y, low, high, most)) {
        stroke(pen, LEFT, up(tick.at), space.right, up(tick.at));
        pen.fillText(tick.text, LEFT - 6, up(tick.at) + 4, LEFT - 22);
      }
      sideways(pen, data.y.name, (6 + panel.plotBottom) / 2, panel.plotBottom - 6);
    }
    if (panel.boxes) {
      const box = boxScale(panel);
      const grain = panel.boxes.value.every((one) => Number.isNaN(one) || one === Math.floor(one)) ? 1 : 0;
      for (const tick of ticksOf({ scale: "number", grain }, box.low, box.high, 3)) {
        stroke(pen, LEFT, box.up(tick.at), space.right, box.up(tick.at));
        pen.fillText(tick.text, LEFT - 6, box.up(tick.at) + 4, LEFT - 22);
      }
      sideways(pen, panel.boxes.name, (panel.boxesTop + panel.boxesBottom) / 2, BOXES);
    }
    for (let lane = 0; lane < panel.lanes; lane++) {
      const name = lane === 0 ? "matches" : lane < panel.matchLanes ? "" : data.variables[lane - panel.matchLanes];
      pen.fillText(name, LEFT - 6, panel.lanesTop + lane * LANE + 10, LEFT - 10);
    }
    if (panel.hidden) {
      pen.textAlign = "left";
      pen.fillText(`and ${panel.hidden.toLocaleString("en-US")} more lane${panel.hidden === 1 ? "" : "s"} of overlapping matches`, LEFT, panel.axis - 4);
    }
    pen.strokeStyle = themed("frame");
    stroke(pen, LEFT, panel.axis, space.right, panel.axis);
  }

  function sideways(pen, text, middle, room) {
    pen.save();
    pen.textAlign = "center";
    pen.translate(13, middle);
    pen.rotate(-Math.PI / 2);
    pen.fillText(text, 0, 0, room);
    pen.restore();
  }

  // A line between two points of the axes, cut off a screen away: far beyond, a canvas no longer knows where a pixel is.
  function lead(pen, space, up, x, y, toX, toY, goesOn) {
    const span = view.high - view.low, least = view.low - span, most = view.high + span;
    const cut = (at) => {
      const to = Math.min(Math.max(at, least), most);
      return [space.at(to), up(toX === x ? (at === x ? y : toY) : y + (toY - y) * (to - x) / (toX - x))];
    };
    if (!goesOn || x < least || x > most) pen.moveTo(...cut(x));
    pen.lineTo(...(toX === x ? [space.at(Math.min(Math.max(x, least), most)), up(toY)] : cut(toX)));
  }

  function stroke(pen, x, y, toX, toY) {
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(toX, toY);
    pen.stroke();
  }

  // Bars from left to right; those closer than a pixel are one, so that colours do not add up.
  function bars(space, count, first, last, keep, put) {
    let begin = 0, end = -Infinity;
    for (let n = 0; n < count; n++) {
      if (!keep(n) || last(n) < view.low || first(n) > view.high) continue;
      const low = space.at(Math.max(first(n), view.low)), high = space.at(Math.min(last(n), view.high));
      if (end !== -Infinity && low - end >= 0.75) put(begin, end);
      if (end === -Infinity || low - end >= 0.75) begin = low;
      end = end === -Infinity || low - end >= 0.75 ? high : Math.max(end, high);
    }
    if (end !== -Infinity) put(begin, end);
  }

  function drawBands(pen, panel, space) {
    const { first, last, kind, texts } = panel.bands;
    data.kinds.forEach((_, number) => {
      pen.fillStyle = colour("kinds", number);
      pen.globalAlpha = 0.14;
      bars(space, first.length, (n) => first[n], (n) => last[n], (n) => kind[n] === number,
        (low, high) => pen.fillRect(low, 6, Math.max(high - low, 1), panel.plotBottom - 6));
    });
    pen.globalAlpha = 1;
    pen.fillStyle = themed("pale");
    pen.textAlign = "left";
    let reached = -Infinity;
    for (let n = 0; n < first.length; n++) {
      if (last[n] < view.low || first[n] > view.high) continue;
      const low = Math.max(space.at(first[n]), LEFT), wide = pen.measureText(texts[n]).width;
      if (low < reached || wide + 5 > space.at(Math.min(last[n], view.high)) - low) continue;
      pen.fillText(texts[n], low + 3, 17);
      reached = low + wide + 8;
    }
  }

  function drawSeries(pen, panel, space, up) {
    const { x, y } = panel, isLine = data.y !== null && data.y.scale !== "category";
    const begin = Math.max(firstAtLeast(x, view.low) - 1, 0), end = Math.min(firstAtLeast(x, view.high) + 1, x.length);
    pen.strokeStyle = pen.fillStyle = themed("line");
    pen.lineWidth = 1;
    pen.beginPath();
    let isOpen = false;
    for (let n = begin; n < end; n++) {
      if (!isLine) {
        const at = space.at(x[n]), to = up(y[n]);
        if (!Number.isNaN(to) && x[n] >= view.low && x[n] <= view.high) { pen.moveTo(at, to - 3); pen.lineTo(at, to + 3); }
        continue;
      }
      const joins = n > begin && !Number.isNaN(y[n]) && !Number.isNaN(y[n - 1]);
      if (joins) lead(pen, space, up, x[n - 1], y[n - 1], x[n], y[n], isOpen);
      isOpen = joins;
    }
    pen.stroke();
    if ((end - begin) * 9 > space.width) return;
    for (let n = begin; n < end; n++) {
      if (!Number.isNaN(y[n]) && x[n] >= view.low && x[n] <= view.high) dot(pen, space.at(x[n]), up(y[n]), isLine ? 1.4 : 2);
    }
  }

  function dot(pen, x, y, radius) {
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fill();
  }

  function drawMarks(pen, panel, space, up) {
    const { point, variable, joins } = panel.marks, isSparse = data.style === "sparse";
    let visible = 0, wide = 0;
    for (let n = 0; n < point.length; n++) {
      const x = panel.x[point[n]], y = panel.y[point[n]];
      if (Number.isNaN(y)) continue;
      if (x >= view.low && x <= view.high) visible++;
      const before = panel.x[point[n - 1]];
      if (!joins[n] || Number.isNaN(panel.y[point[n - 1]]) || Math.max(x, before) < view.low || Math.min(x, before) > view.high) continue;
      wide += Math.abs(space.at(x) - space.at(before));
      pen.lineWidth = isSparse ? 1 : 2.2;
      pen.setLineDash(isSparse ? [2, 2] : []);
      pen.strokeStyle = isSparse ? colour("kinds", 0) : colour("variables", variable[n]);
      pen.beginPath();
      lead(pen, space, up, before, panel.y[point[n - 1]], x, y, false);
      pen.stroke();
    }
    pen.setLineDash([]);
    const gap = visible ? wide / visible : 0;
    pen.lineWidth = 0.8;
    pen.strokeStyle = themed("page");
    for (let n = 0; n < point.length; n++) {
      const x = panel.x[point[n]], y = panel.y[point[n]];
      if (Number.isNaN(y) || x < view.low || x > view.high) continue;
      if (!isSparse && gap < 4 && (joins[n] || joins[n + 1])) continue;
      pen.fillStyle = colour("variables", variable[n]);
      dot(pen, space.at(x), up(y), isSparse || gap >= 9 ? 3.2 : 2);
      pen.stroke();
    }
  }

  function drawLanes(pen, panel, space) {
    const { bands, stretches } = panel;
    const bar = (lane) => (low, high) =>
      pen.fillRect(low, panel.lanesTop + lane * LANE, Math.max(high - low, data.style === "sparse" ? 3 : 1.5), LANE - 3);
    for (let lane = 0; lane < panel.matchLanes; lane++) {
      data.kinds.forEach((_, number) => {
        pen.globalAlpha = 0.3;
        pen.fillStyle = colour("kinds", number);
        bars(space, bands.first.length, (n) => bands.first[n], (n) => bands.last[n],
          (n) => bands.lane[n] === lane && bands.kind[n] === number, bar(lane));
      });
    }
    const isOverlapping = data.style === "overlapping", reached = [];
    for (let n = 0; n < stretches.band.length; n++) {
      const lane = isOverlapping ? panel.matchLanes + stretches.variable[n] : bands.lane[stretches.band[n]];
      if (lane >= panel.lanes || stretches.last[n] < view.low || stretches.first[n] > view.high) continue;
      const low = space.at(Math.max(stretches.first[n], view.low)), high = space.at(Math.min(stretches.last[n], view.high));
      pen.globalAlpha = isOverlapping ? 0.3 : 0.5;
      pen.fillStyle = colour("variables", stretches.variable[n]);
      bar(lane)(low, high);
      pen.globalAlpha = 1;
      if (isOverlapping) continue;
      const name = data.variables[stretches.variable[n]], wide = pen.measureText(name).width;
      const next = n + 1 < stretches.band.length && bands.lane[stretches.band[n + 1]] === lane
        ? space.at(Math.min(stretches.first[n + 1], view.high)) : space.right;
      const room = data.style === "sparse" ? Math.abs(next - low) - 4 : high - Math.max(low, LEFT);
      if (wide + 4 > room || low < (reached[lane] ?? -Infinity)) continue;
      reached[lane] = low + wide + 4;
      pen.fillStyle = themed("ink");
      pen.textAlign = "left";
      pen.fillText(name, Math.max(low, LEFT) + 3, panel.lanesTop + lane * LANE + 10);
    }
    pen.globalAlpha = 1;
  }

  function boxScale(panel) {
    let low = 0, high = -Infinity;
    for (const one of panel.boxes.value) {
      if (Number.isFinite(one)) { low = Math.min(low, one); high = Math.max(high, one); }
    }
    if (!(high > low)) high = low + 1;
    return { low, high, up: (one) => panel.boxesBottom - (one - low) / (high - low) * (panel.boxesBottom - panel.boxesTop) };
  }

  function drawBoxes(pen, panel, space) {
    const { first, last, value } = panel.boxes, { low, high, up } = boxScale(panel);
    const step = numberStep(low, high, 3);
    let reached = -Infinity;
    for (let n = 0; n < first.length; n++) {
      if (!Number.isFinite(value[n]) || last[n] < view.low || first[n] > view.high) continue;
      const begin = Math.max(space.at(first[n]), LEFT), end = Math.min(space.at(last[n]), space.right);
      pen.globalAlpha = 0.3;
      pen.fillStyle = pen.strokeStyle = colour("variables", 0);
      pen.fillRect(begin, Math.min(up(value[n]), up(0)), Math.max(end - begin, 1), Math.max(Math.abs(up(0) - up(value[n])), 1));
      pen.globalAlpha = 1;
      stroke(pen, begin, up(value[n]), Math.max(end, begin + 1), up(value[n]));
      const text = numberText(value[n], Number.isInteger(value[n]) ? 1 : step / 10), wide = pen.measureText(text).width;
      if (begin < reached || wide + 5 > end - begin) continue;
      pen.fillStyle = themed("ink");
      pen.textAlign = "left";
      pen.fillText(text, begin + 3, Math.max(up(value[n]), panel.boxesTop) - 3);
      reached = begin + wide + 8;
    }
  }

  // --- Pointer, keys ---------------------------------------------------------------------------------------------------

  let pointer = null;  // { panel, x, from: where a drag began }

  function drawPointer(pen, panel, space, up) {
    if (pointer === null) return;
    const x = pointer.at === null ? null : space.at(pointer.at);
    if (pointer.from !== null) {
      pen.globalAlpha = 0.15;
      pen.fillStyle = colour("kinds", 3);
      const from = space.at(pointer.from);
      pen.fillRect(Math.min(from, x), 6, Math.abs(x - from), panel.axis - 6);
      pen.globalAlpha = 1;
    }
    const point = pointer.at === null ? null : nearest(panel, pointer.at);
    if (point === null) return;
    pen.strokeStyle = themed("frame");
    stroke(pen, space.at(panel.x[point]), 6, space.at(panel.x[point]), panel.axis);
    pen.fillStyle = themed("ink");
    if (panel === pointer.panel && !Number.isNaN(panel.y[point])) dot(pen, space.at(panel.x[point]), up(panel.y[point]), 3);
  }

  function nearest(panel, at) {
    if (!panel.x.length) return null;
    const behind = Math.min(firstAtLeast(panel.x, at), panel.x.length - 1), before = Math.max(behind - 1, 0);
    return at - panel.x[before] < panel.x[behind] - at ? before : behind;
  }

  function told(panel, at) {
    const point = nearest(panel, at), lines = [];
    if (point !== null) {
      lines.push(`${data.x.name}: ${positionText(data.x, panel.x[point])}`);
      if (data.y !== null) {
        lines.push(`${data.y.name}: ${Number.isNaN(panel.y[point]) ? "no value" : positionText(data.y, panel.y[point])}`);
      }
      const names = new Set();
      for (let n = 0; n < panel.marks.point.length && names.size < 4; n++) {
        if (panel.marks.point[n] === point) names.add(data.variables[panel.marks.variable[n]]);
      }
      if (names.size) lines.push([...names].join(", "));
    }
    const list = (what, texts) => {
      if (texts.length) lines.push(...texts.slice(0, 4));
      if (texts.length > 4) lines.push(`and ${texts.length - 4} more ${what}`);
    };
    const { first, last, kind, texts } = panel.bands, here = [], windows = [];
    const slack = (view.high - view.low) / 400;
    for (let n = 0; n < first.length; n++) {
      if (first[n] - slack > at || last[n] + slack < at) continue;
      const own = data.kinds[kind[n]], text = texts[n].startsWith("#") ? `match ${texts[n]}` : texts[n];
      const named = data.kinds.length === 1 ? text : text === "" || text === own ? own : `${own}, ${text}`;
      here.push(`${named}: ${positionText(data.x, first[n])} to ${positionText(data.x, last[n])}`);
    }
    list("matches", here);
    for (let n = 0; panel.boxes && n < panel.boxes.first.length; n++) {
      if (panel.boxes.first[n] <= at && at < panel.boxes.last[n]) windows.push(panel.boxes.texts[n]);
    }
    list("windows", windows);
    return lines.join("\n");
  }

  function show(next) {
    const least = (home.high - home.low) * 1e-9;
    if (next.high - next.low > least) view = next;
    reset.disabled = view.low === home.low && view.high === home.high;
    panels.forEach(draw);
    onView?.({ ...view }, view.low === home.low && view.high === home.high);
  }

  function follow(canvas) {
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      const x = Math.min(Math.max(event.clientX - box.left, LEFT), box.width - RIGHT);
      return pixels(own()).from(x);
    };
    // The panel of this canvas may be given anew, in more detail.
    const own = () => panels.find((one) => one.canvas === canvas);
    canvas.addEventListener("pointerdown", (event) => {
      const panel = own();
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      pointer = { panel, at: at(event), from: at(event) };
    });
    canvas.addEventListener("pointermove", (event) => {
      const panel = own();
      pointer = { panel, at: at(event), from: pointer?.panel === panel ? pointer.from : null };
      tip.textContent = told(panel, pointer.at);
      tip.hidden = tip.textContent === "";
      const box = document.body.getBoundingClientRect();
      tip.style.left = `${Math.max(4, Math.min(event.pageX + 14, box.width - tip.offsetWidth - 6))}px`;
      tip.style.top = `${event.pageY + 16}px`;
      panels.forEach(draw);
    });
    canvas.addEventListener("pointerup", (event) => {
      const panel = own();
      const from = pointer?.from ?? null, to = at(event);
      pointer = { panel, at: to, from: null };
      const space = pixels(panel);
      if (from !== null && Math.abs(space.at(from) - space.at(to)) > 4) {
        show({ low: Math.min(from, to), high: Math.max(from, to) });
      } else panels.forEach(draw);
    });
    canvas.addEventListener("pointerleave", () => {
      if (pointer?.from != null) return;
      pointer = null;
      tip.hidden = true;
      panels.forEach(draw);
    });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;  // the page scrolls
      event.preventDefault();
      const at_ = at(event), factor = (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8;
      show({ low: at_ - (at_ - view.low) * factor, high: at_ + (view.high - at_) * factor });
    }, { passive: false });
    canvas.addEventListener("dblclick", () => show({ ...home }));
    canvas.addEventListener("keydown", (event) => {
      const span = view.high - view.low, middle = (view.low + view.high) / 2;
      const move = { ArrowLeft: -span / 5, ArrowRight: span / 5 }[event.key];
      const zoom = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
      if (move !== undefined) show({ low: view.low + move, high: view.high + move });
      else if (zoom !== undefined) show({ low: middle - span * zoom / 2, high: middle + span * zoom / 2 });
      else if (event.key === "0" || event.key === "Escape") show({ ...home });
      else return;
      event.preventDefault();
    });
  }
  // --- The page --------------------------------------------------------------------------------------------------------

  function put(parent, kind, text) {
    const made = document.createElement(kind);
    if (text) made.textContent = text;
    parent.append(made);
    return made;
  }

  function paintLegend() {
    legend.replaceChildren();
    const entries = data.variables.map((name, number) => [name, "variables", number]);
    if (data.kinds.length > 1) data.kinds.forEach((name, number) => entries.push([name, "kinds", number]));
    for (const [name, list, number] of entries) {
      const entry = put(legend, "span"), swatch = put(entry, "span");
      swatch.className = "swatch";
      swatch.style.background = colour(list, number);
      entry.append(name);
    }
  }

  function paintPanels() {
    place.replaceChildren();
    for (const panel of panels) {
      if (panel.title) {
        const title = put(place, "h2", panel.title);
        if (!panel.boxes && data.kinds.length === 1) put(title, "span", ` · ${panel.n_matches.toLocaleString("en-US")} match${panel.n_matches === 1 ? "" : "es"}`);
      }
      panel.canvas = put(place, "canvas");
      panel.canvas.tabIndex = 0;
      panel.canvas.setAttribute("role", "img");
      panel.canvas.setAttribute("aria-label", `${data.described}. ${panel.title}`);
      panel.canvas.style.height = `${panel.height}px`;
      follow(panel.canvas);
    }
  }

  function take(given, isCloser = false) {
    const before = panels;
    data = given;
    panels = given.panels.map(unpacked);
    panels.forEach(measure);
    pointer = null;
    tip.hidden = true;
    const isSame = isCloser && before.length === panels.length && before.every((one, n) => one.title === panels[n].title);
    if (isSame) {
      panels.forEach((panel, n) => {
        panel.canvas = before[n].canvas;
        panel.canvas.style.height = `${panel.height}px`;
      });
    } else {
      home = { low: data.low, high: data.high };
      view = { ...home };
      paintPanels();
    }
    reset.disabled = view.low === home.low && view.high === home.high;
    paintLegend();
    notes.replaceChildren();
    for (const note of data.notes) put(notes, "p", note).className = "note";
    panels.forEach(draw);
  }

  reset.addEventListener("click", () => show({ ...home }));
  isDark.addEventListener("change", () => { if (data) { paintLegend(); panels.forEach(draw); } });
  new ResizeObserver(() => panels.forEach(draw)).observe(place);
  return { take, zoom: (low, high) => show({ low, high }) };
}
