"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const COLOURS = ["#440154", "#3b528b", "#21918c", "#5ec962", "#e7c419"];
  const VERDICTS = ["indispensable", "replaceable", "undecided", "no evidence"];
  const state = { feature: null, case: null, sort: null, down: false };
  const ranks = [];
  data.order.forEach((j, rank) => { ranks[j] = rank; });
  const tip = document.getElementById("tip");
  const element = (name, text = "", around = null) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (around) around.append(made);
    return made;
  };
  document.documentElement.classList.add("js");

  // Points of the maps: a group per class holds one <use> per case, in the order of the cases.
  const points = data.cases.rows.map(() => []);
  for (const map of ["map-before", "map-after"]) {
    for (const [group, cases] of Object.entries(data.cases.groups)) {
      const uses = document.querySelectorAll(`#${map}-${group} use`);
      if (uses.length === cases.length) cases.forEach((number, place) => points[number].push(uses[place]));
    }
  }

  // Lines of the intervals: a group per feature, or one area for thousands of them.
  const lines = data.features.map((_, j) => [...document.querySelectorAll(`#intervals-feature-${j}-body, #intervals-feature-${j}-ends`)]);
  const area = document.getElementById("intervals-all-features");

  const describeFeature = (j) => {
    const [name, verdict, lost, error, least, most] = data.features[j];
    return `${name}: ${verdict}, ${lost} ± ${error} points lost without it, weight ${least} to ${most}`;
  };
  const describeCase = (i) => {
    const chance = data.cases.probability ? ` (probability ${data.cases.probability[i]})` : "";
    return `row ${data.cases.rows[i]}: ${chance ? "" : "measured "}${data.cases.true[i]}, predicted ${data.cases.predicted[i]}${chance}`;
  };
  const showTip = (event, text) => {
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18}px`;
  };
  const hideTip = () => { tip.hidden = true; };
  const watch = (thing, text, choose) => {
    thing.addEventListener("mousemove", (event) => showTip(event, text()));
    thing.addEventListener("mouseleave", hideTip);
    thing.addEventListener("click", choose);
  };

  // The table of features.
  const body = document.querySelector("tbody.features");
  const find = document.getElementById("find"), kind = document.getElementById("kind"), count = document.getElementById("count");
  const shown = body.rows.length;
  const fill = () => {
    const part = find.value.toLowerCase();
    const order = data.features.map((_, j) => j)
      .filter((j) => data.features[j][0].toLowerCase().includes(part) && (!kind.value || data.features[j][1] === kind.value));
    const key = (j) => state.sort === null ? ranks[j] : state.sort === 1 ? VERDICTS.indexOf(data.features[j][1]) - data.features[j][2] / 1000 : data.features[j][state.sort];
    order.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a - b) * (state.down ? -1 : 1));
    body.replaceChildren(...order.slice(0, shown).map(row));
    count.textContent = order.length > shown ? `${shown} of ${order.length} shown` : `${order.length} features`;
  };
  const row = (j) => {
    const made = element("tr");
    made.dataset.feature = j;
    made.setAttribute("aria-selected", String(j === state.feature));
    data.features[j].forEach((value, place) => {
      const cell = element("td", place === 0 ? "" : typeof value === "number" ? String(value) : value, made);
      cell.className = place === 0 || place === 6 ? "name" : place === 1 ? "" : "number";
      if (place === 0) element("button", value, cell).type = "button";
    });
    return made;
  };
  body.addEventListener("click", (event) => {
    const line = event.target.closest("tr");
    if (line) chooseFeature(Number(line.dataset.feature));
  });
  for (const head of document.querySelectorAll("th[data-sort]")) {
    const button = element("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const by = Number(head.dataset.sort);
      state.down = state.sort === by ? !state.down : by > 1;
      state.sort = by;
      for (const other of document.querySelectorAll("th[data-sort]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      fill();
    });
  }
  find.addEventListener("input", fill);
  kind.addEventListener("change", fill);
  fill();

  // One chosen feature: its line, its row, and its values on the maps.
  const scale = document.getElementById("scale");
  const chooseFeature = (j) => {
    state.feature = j === state.feature ? null : j;
    const chosen = state.feature;
    lines.forEach((parts, k) => parts.forEach((part) => part.classList.toggle("faint", chosen !== null && k !== chosen)));
    for (const line of body.rows) line.setAttribute("aria-selected", String(Number(line.dataset.feature) === chosen));
    const levels = chosen === null ? null : data.levels[chosen];
    points.forEach((uses, i) => uses.forEach((use) => {
      const level = levels ? levels[i] : ".";
      use.style.fill = level === "." ? use.dataset.fill : COLOURS[level];
    }));
    scale.hidden = chosen === null;
    if (chosen !== null) {
      scale.replaceChildren(levels ? `Coloured by ${data.features[chosen][0]}, low ` : `${describeFeature(chosen)}. Only the most relevant features colour the maps.`);
      if (levels) {
        const bar = element("span", "", scale);
        bar.className = "scale";
        for (const colour of COLOURS) element("i", "", bar).style.background = colour;
        scale.append(" high");
      }
    }
  };
  points.forEach((uses, i) => uses.forEach((use) => {
    use.dataset.fill = use.style.fill;
    watch(use, () => describeCase(i), () => chooseCase(i));
  }));
  lines.forEach((parts, j) => parts.forEach((part) => watch(part, () => describeFeature(j), () => chooseFeature(j))));
  if (area) {
    const at = (event) => {
      const box = area.getBoundingClientRect();
      return Math.max(0, Math.min(data.features.length - 1, Math.floor((event.clientX - box.left) / box.width * data.features.length)));
    };
    const figure = area.closest("svg");
    const inside = (event) => {
      const box = area.getBoundingClientRect();
      return event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
    };
    figure.addEventListener("mousemove", (event) => (inside(event) ? showTip(event, describeFeature(at(event))) : hideTip()));
    figure.addEventListener("mouseleave", hideTip);
    figure.addEventListener("click", (event) => { if (inside(event)) chooseFeature(at(event)); });
  }

  // One chosen case: its points, and the explanation of its prediction.
  const panel = document.getElementById("case"), pick = document.getElementById("pick");
  const chooseCase = (i) => {
    if (!panel) return;
    state.case = i === state.case ? null : i;
    points.forEach((uses, k) => uses.forEach((use) => use.classList.toggle("chosen", k === state.case)));
    panel.hidden = state.case === null;
    if (state.case === null) return;
    if (pick.querySelector(`option[value="${i}"]`)) pick.value = String(i);
    panel.replaceChildren();
    const line = describeCase(i);
    element("strong", line[0].toUpperCase() + line.slice(1), panel);
    const why = data.why[i];
    if (!why) {
      element("p", "There is no explanation for this case, only for those in the list.", panel);
      return;
    }
    element("p", why.text, panel);
    const table = element("table", "", panel), head = element("tr", "", element("thead", "", table));
    element("th", "feature", head);
    if (why.adds) showContributions(why.adds, table, head);
    else showDistances(why, table, head);
  };
  const showContributions = (adds, table, head) => {
    for (const name of ["this case", "mean", "adds"]) element("th", name, head).className = "number";
    element("th", "to the prediction, lowered or raised", head).className = "wide";
    const rows = element("tbody", "", table);
    const longest = Math.max(...adds.map(([, part]) => Math.abs(part)), 1e-12);
    for (const [j, part, value, mean] of adds) {
      const made = element("tr", "", rows);
      element("td", data.features[j][0], made).className = "name";
      for (const text of [value, mean, (part > 0 ? "+" : "") + part]) element("td", text, made).className = "number";
      const sides = element("div", "", element("td", "", made));
      sides.className = "sides";
      const bar = element("i", "", sides);
      bar.className = part < 0 ? "lowers" : "raises";
      bar.style.width = `${50 * Math.abs(part) / longest}%`;
    }
  };
  const showDistances = (why, table, head) => {
    const near = why.other ? [why.near, why.other] : [why.near];
    for (const name of ["this case", ...near.map(([label, , named]) => `${named} (${label})`)]) element("th", name, head).className = "number";
    element("th", `adds to the distance of ${near.map(([, , named], k) => named + (k ? "" : " (filled)")).join(" and of ")}`, head).className = "wide";
    const rows = element("tbody", "", table);
    const longest = Math.max(...why.parts.flatMap(([, filled, open]) => [Math.abs(filled), Math.abs(open)]), 1e-12);
    for (const [j, filled, open, ...values] of why.parts) {
      const made = element("tr", "", rows);
      element("td", data.features[j][0], made).className = "name";
      for (const value of values.slice(0, 1 + near.length)) element("td", value, made).className = "number";
      const bars = element("div", "", element("td", "", made));
      bars.className = "pairbar";
      bars.title = `${filled} and ${open}`;
      for (const part of why.other ? [filled, open] : [filled]) element("i", "", bars).style.width = `${100 * Math.abs(part) / longest}%`;
    }
  };
  if (pick) {
    const explained = Object.keys(data.why).map(Number).sort((a, b) => a - b);
    element("option", "none", pick).value = "";
    for (const i of explained) element("option", data.cases.rows[i] + (!data.cases.probability || data.cases.true[i] === data.cases.predicted[i] ? "" : " (wrong)"), pick).value = String(i);
    const go = (i) => chooseCase(i === null ? state.case : i);
    pick.addEventListener("change", () => go(pick.value === "" ? null : Number(pick.value)));
    const step = (by) => {
      const place = explained.indexOf(state.case);
      go(explained[(place + by + explained.length) % explained.length]);
    };
    document.getElementById("back").addEventListener("click", () => step(state.case === null ? 0 : -1));
    document.getElementById("next").addEventListener("click", () => step(1));
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    hideTip();
    if (state.feature !== null) chooseFeature(state.feature);
    if (state.case !== null) chooseCase(state.case);
  });
})();
