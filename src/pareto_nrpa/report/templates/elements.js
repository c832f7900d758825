// Elements, numbers and words. Text of users goes into the document as text nodes and attributes, never as HTML.
const byId = (id) => document.getElementById(id);
const el = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function filled(element, attributes = {}, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const button = (words, onclick, attributes = {}) => el("button", { type: "button", onclick, ...attributes }, words);
const buttons = (...children) => el("div", { class: "buttons" }, ...children);
const note = (words) => el("p", { class: "note" }, words);
const paragraphs = (lines) => lines.map((line) => el("p", {}, line));

// Cells are numbers, to the right, unless they are words.
const cell = (content) => el("td", {}, content);
const wordCell = (content) => el("td", { class: "words" }, content);
const rowHead = (content) => el("th", { scope: "row", class: "words" }, content);
const numbersHead = (name) => el("th", { scope: "col" }, name);
const wordsHead = (name) => el("th", { scope: "col", class: "words" }, name);
const tableRow = (...cells) => el("tr", {}, ...cells);

function table(caption, heads, rows) {
  return el("table", {}, el("caption", {}, caption), el("thead", {}, tableRow(...heads)), el("tbody", {}, ...rows));
}

// Large content scrolls in its place, also by keyboard.
function scrolling(label, content) {
  return el("div", { class: "scroll", role: "region", "aria-label": label, tabindex: 0 }, content);
}

const room = (element) => Math.max(240, element.clientWidth);
const total = (values) => values.reduce((sum, value) => sum + value, 0);
const indexOfSmallest = (values) => values.indexOf(Math.min(...values));

// Created once each, as creation is slow.
const [digits4, digits6, digits9] = [4, 6, 9].map((n) => new Intl.NumberFormat("en", { maximumSignificantDigits: n }));
const format = (value) => (Math.abs(value) >= 1e6 ? digits9 : digits6).format(value);
const short = (value) => Number(value.toPrecision(6));
const signed = (value) => (value < 0 ? "\u2212" : "+") + format(Math.abs(value));
const plural = (n, word) => `${format(n)} ${word}${n === 1 ? "" : "s"}`;

// The rule of `shown_time` in times.py: hh:mm, or hh:mm:ss between two minutes.
function clock(value) {
  const whole = Math.floor(Math.abs(value) * 60 + 0.5);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, ...(whole % 60 ? [whole % 60] : [])];
  const sign = value < 0 && whole ? "-" : "";
  return sign + parts.map((part) => String(part).padStart(2, "0")).join(":");
}
const timeFormat = (i) => (planOf(i).clock ? clock : format);

const colour = (n) => `s${n % 8}`;
const SHAPES = [
  (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
  (r) => `M${-r} ${-r}H${r}V${r}H${-r}Z`,
  (r) => `M0 ${-1.3 * r}L${1.2 * r} ${r}H${-1.2 * r}Z`,
  (r) => `M0 ${-1.4 * r}L${1.4 * r} 0L0 ${1.4 * r}L${-1.4 * r} 0Z`,
];
const shape = (n, size) => SHAPES[n % SHAPES.length](size);
