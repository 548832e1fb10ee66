// What a page can do beyond what it says: tables are sorted and filtered, and charts tell the values of their marks.
// Without this script the page reads the same. Nothing here opens a connection or keeps anything.

const SORTABLE = 3, FILTERABLE = 8; // rows from which sorting and filtering help
const NEAR = 18; // pixels around a mark in which a pointer means it

document.documentElement.classList.add("live"); // shows what works with a script only

/** Return a new element: properties, classes and attributes in one object, then children. */
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made && typeof value !== "string") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** Return the number that a cell begins with, thousands apart by thin spaces and true minus signs; NaN if none. */
function leadingNumber(text) {
  const plain = text.trim().replace(/[\u202f\u00a0]/g, "").replace(/\u2212/g, "-").replace(/^[<>]\s*/, "");
  const found = /^[▼\s]*(?:worst off:\s*)?([+-]?\d+(?:[.,]\d+)?)/.exec(plain);
  return found ? Number(found[1].replace(",", ".")) : NaN;
}

/** Return what a cell is sorted by: its number, or its text. */
function sortKey(cell) {
  const value = cell.querySelector(".value, .name") ?? cell;
  const text = value.textContent.trim();
  return { number: leadingNumber(text), text: text.toLowerCase() };
}

/** Compare two keys: numbers before texts, whatever is not defined last. */
function compareKeys(a, b, sign) {
  const numbers = [a, b].map((key) => !Number.isNaN(key.number));
  if (numbers[0] && numbers[1]) return sign * (a.number - b.number);
  if (numbers[0] !== numbers[1]) return numbers[0] ? -1 : 1;
  return sign * a.text.localeCompare(b.text, "en", { numeric: true });
}

/** Let the heads of the columns of a table sort its rows, each body by itself; a third press restores the order. */
function makeSortable(table) {
  const heads = table.tHead ? [...table.tHead.rows].at(-1).cells : [];
  const bodies = [...table.tBodies];
  const rows = bodies.flatMap((body) => [...body.rows]);
  const plain = rows.filter((row) => row.cells.length === heads.length);
  if (plain.length < SORTABLE || rows.some((row) => [...row.cells].some((cell) => cell.rowSpan > 1))) return;
  const orders = bodies.map((body) => [...body.rows]);
  [...heads].forEach((head, column) => {
    if (head.matches(".strip-head, td") || !head.textContent.trim()) return;
    const button = element("button", { type: "button", class: "sort" }, ...head.childNodes);
    head.append(button);
    const counts = plain.filter((row) => !Number.isNaN(sortKey(row.cells[column]).number)).length;
    const order = counts * 2 >= plain.length ? ["descending", "ascending"] : ["ascending", "descending"];
    button.addEventListener("click", () => {
      const next = [...order, null][(order.indexOf(head.ariaSort) + 1) % 3];
      for (const other of heads) other.removeAttribute("aria-sort");
      if (next) head.ariaSort = next;
      sortRows(bodies, orders, next ? column : -1, next === "ascending" ? 1 : -1);
    });
  });
}

/** Put rows into order by a column; -1 restores the order of the page. Rows that span columns keep the top. */
function sortRows(bodies, orders, column, sign) {
  bodies.forEach((body, index) => {
    const rows = [...orders[index]];
    if (column >= 0) {
      const width = Math.max(...rows.map((row) => row.cells.length));
      const keys = new Map(rows.map((row) => [row, row.cells.length < width ? null : sortKey(row.cells[column])]));
      rows.sort((a, b) => {
        if (!keys.get(a) || !keys.get(b)) return Number(!keys.get(b)) - Number(!keys.get(a));
        return compareKeys(keys.get(a), keys.get(b), sign);
      });
    }
    body.append(...rows);
  });
}

/** Put a field before a table that leaves the rows which hold all words typed; a body with joined rows is one. */
function makeFilterable(table, index) {
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  if (rows.length < FILTERABLE || table.closest("[data-plain]")) return;
  const joined = rows.some((row) => [...row.cells].some((cell) => cell.rowSpan > 1));
  const parts = joined ? [...table.tBodies] : rows;
  const field = element("input", { type: "search", id: `filter-${index}`, autocomplete: "off" });
  const told = element("span", { role: "status" });
  const about = table.caption ? `Filter ${table.caption.textContent.trim()}` : "Filter rows";
  const label = element("label", { for: field.id }, "Filter");
  label.append(element("span", { class: "hidden" }, about.slice(6)));
  table.closest(".scroll")?.before(element("p", { class: "tool" }, label, " ", field, " ", told));
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const part of parts) {
      const text = part.textContent.toLowerCase();
      const kept = words.every((word) => text.includes(word));
      part.classList.toggle("filtered", !kept);
      left += kept ? 1 : 0;
    }
    told.textContent = words.length ? `${left} of ${parts.length}` : "";
  });
}

const tip = element("div", { class: "tip", role: "status" });
tip.hidden = true;
document.body.append(tip);

/** Show words beside a mark, within the window. */
function showTip(mark) {
  document.querySelectorAll(".told").forEach((other) => other.classList.remove("told"));
  mark.classList.add("told");
  tip.textContent = mark.dataset.says;
  tip.hidden = false;
  const at = mark.getBoundingClientRect(), size = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, at.right + 10), innerWidth - size.width - 8);
  const above = at.top - size.height - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : at.bottom + 8}px`;
}

function hideTip() {
  document.querySelectorAll(".told").forEach((mark) => mark.classList.remove("told"));
  tip.hidden = true;
}

/** Return how far a point is from a mark, in pixels. */
function distance(mark, x, y) {
  const box = mark.getBoundingClientRect();
  return Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
}

/** Tell the values of a chart under the pointer, and for arrow keys one mark after the other. */
function makeTelling(chart) {
  const marks = [...chart.querySelectorAll("g")].filter((group) => group.firstElementChild?.tagName === "title");
  if (!marks.length) return;
  for (const mark of marks) {
    mark.dataset.says = mark.firstElementChild.textContent;
    mark.firstElementChild.remove();
  }
  chart.tabIndex = 0;
  let place = -1;
  chart.addEventListener("pointermove", (event) => {
    const near = marks.map((mark) => [distance(mark, event.clientX, event.clientY), mark]);
    const [gap, mark] = near.reduce((best, each) => (each[0] < best[0] ? each : best));
    if (gap <= NEAR) showTip(mark);
    else hideTip();
  });
  chart.addEventListener("pointerleave", hideTip);
  chart.addEventListener("blur", hideTip);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hideTip();
    if (!step) return;
    event.preventDefault();
    place = (place + step + marks.length) % marks.length;
    showTip(marks[place]);
  });
}

document.querySelectorAll(".scroll > table").forEach((table, index) => {
  makeFilterable(table, index);
  makeSortable(table);
});
document.querySelectorAll("svg.chart").forEach(makeTelling);
addEventListener("scroll", hideTip, { passive: true, capture: true });
addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
