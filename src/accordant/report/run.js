// The page of a run: other weights of its metrics, means among groups, and two strategies person by person.
// All numbers are those of the record; scores are made of them as `accordant reweigh` makes them, to the last bit.

const run = JSON.parse(document.getElementById("run-data").textContent);
const SHOWN = 20; // rows of people at a time

/** Return a number with a fixed number of decimals; exact halves go to the even digit, as everywhere on the page. */
function fixed(value, digits) {
  const size = Math.abs(value), halves = size * 2 ** (digits + 1);
  let text = size.toFixed(digits);
  if (Number.isInteger(halves) && (halves * 5 ** digits) % 2 === 1) {
    const below = (halves * 5 ** digits - 1) / 2;
    text = ((below % 2 === 0 ? below : below + 1) / 10 ** digits).toFixed(digits);
  }
  return (value < 0 && /[1-9]/.test(text) ? "\u2212" : "") + text;
}

/** Return a score as it is set on the page. */
const score = (value) => (value === null || Number.isNaN(value) ? "unranked" : fixed(value, 3));
const interval = (low, high) => (low === null || high === null ? "" : `[${fixed(low, 3)}, ${fixed(high, 3)}]`);
const percent = (share) => {
  if (share > 0 && share < 0.001) return "< 0.1%";
  return `${fixed(100 * share, 1).replace(/\.0$/, "")}%`;
};

/** Add one after another, in the order given. */
const addedUp = (values) => values.reduce((sum, value) => sum + value);

/** Return weights divided by their sum; weights that sum to 1 up to rounding stay as they are. */
function sharesOf(metrics, weights) {
  const given = metrics.map((metric) => weights[metric] ?? 0);
  const total = addedUp(given);
  const divisor = Math.abs(total - 1) <= run.tolerance ? 1 : total;
  return given.map((weight) => weight / divisor);
}

/** Return composite scores of a leaderboard, NaN where a metric with weight is not defined. */
function scoresOf(board, given) {
  const total = addedUp(given);
  const shares = given.map((share) => share / total);
  return board.values.map((values) =>
    addedUp(values.flatMap((value, metric) => (shares[metric] > 0 ? [(value ?? NaN) * shares[metric]] : []))),
  );
}

/** Return positions of the rows, best first, the winner, and the place of each candidate; null for other lines. */
function rank(board, scores) {
  const ranked = scores.map((value, row) => board.candidates[row] && !Number.isNaN(value));
  const highest = Math.max(...scores.filter((_, row) => ranked[row]));
  const best = board.declared.find((row) => ranked[row] && scores[row] >= highest - run.equal) ?? null;
  const keys = scores.map((value, row) => (row === best ? highest : Number.isNaN(value) ? -Infinity : value));
  const order = scores.map((_, row) => row);
  order.sort((a, b) => keys[b] - keys[a] || Number(a !== best) - Number(b !== best) || a - b);
  const places = scores.map((value, row) =>
    ranked[row] ? 1 + scores.filter((other, at) => ranked[at] && other > value + run.equal).length : null,
  );
  return { order, best, places };
}

/** Return what would have been chosen on held-out folds; undefined if a metric with weight is not measured there. */
function chosenAt(shares, metrics) {
  const board = run.boards.validation;
  if (!board || metrics.some((metric, at) => shares[at] > 0 && !board.metrics.includes(metric))) return undefined;
  const scores = scoresOf(board, board.metrics.map((metric) => shares[metrics.indexOf(metric)] ?? 0));
  const row = rank(board, scores).order.find((each) => board.selectable[each] && !Number.isNaN(scores[each]));
  return row === undefined ? null : board.names[row];
}

/** Sliders of weights, and the leaderboard that they make. */
function weightsPart(board) {
  const sliders = [...document.querySelectorAll("[data-metric]")];
  const weights = { ...run.weights };
  const table = document.querySelector("#moved tbody");
  const before = scoresOf(board, board.metrics.map((metric) => run.weights[metric]));
  const was = rank(board, before);

  const told = (name) => element("strong", {}, name);
  function sentence(shares, now) {
    const winner = board.names[now.best], first = board.names[was.best];
    const chosen = chosenAt(shares, board.metrics);
    const words = ["At these weights ", told(winner ?? "no candidate"), " leads; at those of the run ", told(first ?? "no candidate"), " leads. "];
    if (chosen === undefined) words.push("What would have been chosen at these weights is not known: a metric with weight was not measured on held-out folds.");
    else if (chosen === run.selected) words.push("On held-out folds the selected strategy would have been chosen at these weights, too.");
    else words.push("On held-out folds ", told(chosen ?? "no strategy"), ` would have been chosen at these weights; ${run.selected ?? "nothing"} stays selected.`);
    return words;
  }

  function update() {
    const given = sharesOf(board.metrics, weights);
    const empty = !(addedUp(board.metrics.map((metric) => weights[metric] ?? 0)) > 0);
    for (const slider of sliders) {
      const share = empty ? 0 : given[board.metrics.indexOf(slider.dataset.metric)];
      slider.parentElement.querySelector("output").textContent = percent(share);
      slider.setAttribute("aria-valuetext", `${percent(share)} of all weight`);
    }
    const says = document.getElementById("moved-says");
    const command = document.getElementById("moved-command");
    if (empty) {
      says.textContent = "Give at least one metric a weight.";
      table.replaceChildren();
      command.textContent = "";
      return;
    }
    const scores = scoresOf(board, given), now = rank(board, scores);
    const same = board.metrics.every((metric) => weights[metric] === run.weights[metric]);
    says.replaceChildren(...sentence(given, now));
    table.replaceChildren(...now.order.filter((row) => board.candidates[row]).map((row) => line(row, scores, now, same)));
    document.getElementById("moved-limits").classList.toggle("stressed", !same);
    const named = board.metrics.flatMap((metric, at) => (weights[metric] > 0 ? [`${board.known[at]}=${weights[metric]}`] : []));
    command.textContent = `accordant reweigh RUN --weights ${quoted(named.join(","))}`;
  }

  function line(row, scores, now, same) {
    const name = board.names[row], selected = name === run.selected;
    const head = element("th", { scope: "row", class: "strategy" }, element("span", { class: "name" }, name));
    if (selected) head.append(element("strong", { class: "tag sub" }, "selected"));
    if (board.alike[row]) head.append(element("span", { class: "detail" }, `decides as ${board.alike[row]}`));
    const made = element("tr", {}, head, ...[
      now.places[row] ?? "–", was.places[row] ?? "–", score(scores[row]),
      same ? interval(...board.limits[row]) || "–" : "–", score(before[row]),
    ].map((text) => element("td", { class: "number" }, String(text))));
    if (selected) made.classList.add("selected");
    made.dataset.strategy = board.labels[row];
    made.dataset.score = String(scores[row]);
    return made;
  }

  function setAll(weight) {
    for (const slider of sliders) {
      weights[slider.dataset.metric] = weight(slider.dataset.metric);
      slider.value = weights[slider.dataset.metric];
    }
    update();
  }

  for (const slider of sliders) {
    slider.addEventListener("input", () => {
      weights[slider.dataset.metric] = Number(slider.value);
      update();
    });
  }
  document.getElementById("weights-of-run").addEventListener("click", () => setAll((metric) => run.weights[metric]));
  document.getElementById("weights-equal").addEventListener("click", () => setAll((metric) => (run.weights[metric] > 0 ? 1 : 0)));
  setAll((metric) => run.weights[metric]);
}

/** Return a word as a shell takes it. */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\"'\"'")}'`);

/** The group whose means stand in the first table. */
function groupsPart() {
  const choice = document.getElementById("among");
  const cells = [...document.querySelectorAll(".compared tbody tr")].map((row) => [...row.cells].slice(1));
  const whole = cells.map((row) => row.map((cell) => [...cell.childNodes]));
  choice.addEventListener("change", () => {
    const texts = choice.value === "" ? null : run.among[Number(choice.value)];
    cells.forEach((row, at) => row.forEach((cell, column) => {
      cell.replaceChildren(...(texts ? [texts[at][column]] : whole[at][column]));
    }));
    document.getElementById("among-says").hidden = !texts;
  });
}

/** One group of a grouping: its rows in tables, and its marks in charts. */
function groupingPart(choice) {
  const part = choice.closest(".grouping");
  const bodies = [...part.querySelectorAll(".by-group tbody")].map((body) => [body, [...body.rows], body.rows[0].cells[0]]);
  choice.addEventListener("change", () => {
    const group = choice.value === "" ? -1 : Number(choice.value);
    for (const [body, rows, head] of bodies) {
      rows.forEach((row, at) => row.classList.toggle("filtered", group >= 0 && at !== group));
      rows[Math.max(0, group)].prepend(head);
      head.rowSpan = group < 0 ? rows.length : 1;
      body.classList.toggle("one", group >= 0);
    }
    for (const mark of part.querySelectorAll("svg.chart .mark")) {
      mark.classList.toggle("faded", group >= 0 && !mark.classList.contains(`group-${group}`));
    }
  });
}

/** Two strategies, person by person. */
function peoplePart(people) {
  const [first, second, order] = ["first-strategy", "second-strategy", "people-order"].map((id) => document.getElementById(id));
  const stakeholders = [...order.options].map((option) => option.value);
  const body = document.querySelector("#people-table tbody");
  const heads = document.querySelectorAll("#people-table thead th");
  let shown = SHOWN;

  const chances = (name, row) => {
    const taken = people.decisions[name][row];
    return Array.isArray(taken) ? taken : people.actions.map((_, action) => Number(action === taken));
  };
  const action = (shares) => shares
    .flatMap((share, at) => (share > 0 ? [share < 1 ? `${people.actions[at]} ${percent(share)}` : people.actions[at]] : []))
    .join(", ");
  const reward = (stakeholder, row, shares) =>
    addedUp(shares.map((share, at) => (share > 0 ? share * people.expected[stakeholder][row][at] : 0)));

  function compared() {
    return people.rows.flatMap((number, row) => {
      const shares = [first, second].map((choice) => chances(choice.value, row));
      if (shares[0].every((share, at) => share === shares[1][at])) return [];
      const gains = stakeholders.map((each) => reward(each, row, shares[0]) - reward(each, row, shares[1]));
      return [{ number, actions: shares.map(action), gains }];
    });
  }

  function update() {
    const differing = compared(), by = stakeholders.indexOf(order.value), all = people.rows.length;
    differing.sort((a, b) => a.gains[by] - b.gains[by] || a.number - b.number);
    const means = stakeholders.map((name, at) => {
      const gains = differing.map((each) => each.gains[at]);
      const mean = gains.length ? addedUp(gains) / all : 0;
      const counts = [gains.filter((gain) => gain > 0).length, gains.filter((gain) => gain < 0).length];
      return `${name} gains in ${counts[0]} and loses in ${counts[1]}, ${mean > 0 ? "+" : ""}${fixed(mean, 3)} on average over all`;
    });
    document.getElementById("people-says").textContent = differing.length
      ? `They decide differently in ${differing.length} of ${all} rows (${percent(differing.length / all)}). By ${first.value} instead of ${second.value}: ${means.join("; ")}.`
      : `They decide alike in all ${all} rows.`;
    const changes = new Map();
    for (const each of differing) {
      const change = `${each.actions[0]} instead of ${each.actions[1]}`;
      changes.set(change, (changes.get(change) ?? 0) + 1);
    }
    const most = [...changes].sort((a, b) => b[1] - a[1]).slice(0, 6);
    document.getElementById("people-changes").replaceChildren(
      ...most.map(([change, count]) => element("li", {}, `${change}: ${count} ${count === 1 ? "row" : "rows"}`)),
    );
    heads[1].textContent = first.value;
    heads[2].textContent = second.value;
    body.replaceChildren(...differing.slice(0, shown).map((each) => element("tr", {},
      element("th", { scope: "row", class: "number" }, String(each.number)),
      ...each.actions.map((words) => element("td", {}, words)),
      ...each.gains.map((gain) => element("td", { class: gain < 0 ? "number loss" : "number" }, `${gain > 0 ? "+" : ""}${fixed(gain, 3)}`)),
    )));
    document.getElementById("people-more").hidden = differing.length <= shown;
  }

  for (const choice of [first, second, order]) {
    choice.addEventListener("change", () => {
      shown = SHOWN;
      update();
    });
  }
  document.getElementById("people-more").addEventListener("click", () => {
    shown += SHOWN;
    update();
  });
  update();
}

if (document.getElementById("moved")) weightsPart(run.boards.test);
if (document.getElementById("among")) groupsPart();
document.querySelectorAll(".choose-group").forEach(groupingPart);
if (run.people) peoplePart(run.people);
