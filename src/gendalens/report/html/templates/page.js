"use strict";
(() => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const ROLES = ["pronoun", "meant", "other", "found", "missed"];
  const STEP = 20;
  const ENGLISH = "en";
  let language = ENGLISH;
  const words = () => page.words[language];
  // Numbers stand in the page in English notation.
  const shown = (text) => {
    const { decimal, thousands } = page.numbers[language];
    return text.replace(/[.,]/g, (sign) => (sign === "." ? decimal : thousands));
  };
  const signed = (value, digits) =>
    shown((value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(digits));
  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // Charts
  const options = () => ({
    actions: false, renderer: "svg", ast: true, defaultStyle: false, mode: "vega-lite",
    tooltip: { disableDefaultStyle: true, sanitize: (value) => escaped(String(value)) },
    formatLocale: page.numbers[language],
    loader: { load: () => Promise.reject(new Error("nothing is loaded")) },
  });
  const escaped = (text) =>
    text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const draw = (place) => {
    const spec = page.charts[place.dataset.chart];
    if (!spec) return;
    if (place.view) place.view.finalize();
    vegaEmbed(place, spec[language], options())
      .then((drawn) => { place.view = drawn; place.dataset.drawn = language; })
      .catch(() => { place.parentElement.querySelector(".failed").hidden = false; });
  };
  const plots = [...document.querySelectorAll("[data-chart]")];
  // Charts out of sight are drawn when they come near: a page may hold many.
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries)
      if (entry.isIntersecting && entry.target.dataset.drawn !== language) draw(entry.target);
  }, { rootMargin: "600px" });
  const drawAll = () => plots.forEach((place) => { if (place.dataset.drawn !== language) draw(place); });

  // Examples
  const sentence = (text, marks) => {
    const made = element("bdi", "sentence");
    made.lang = "da";
    const letters = Array.from(text); // offsets count characters, not UTF-16 units
    const parts = [];
    for (let i = 0; i < marks.length; i += 3) parts.push(marks.slice(i, i + 3));
    parts.sort((a, b) => a[0] - b[0]);
    let at = 0;
    for (const [start, end, role] of parts) {
      if (start < at) continue;
      made.append(letters.slice(at, start).join(""));
      made.append(element("mark", ROLES[role], letters.slice(start, end).join("")));
      at = end;
    }
    made.append(letters.slice(at).join(""));
    return made;
  };
  const explorer = (section) => {
    const held = page.examples[section.dataset.examples];
    const form = section.querySelector("form");
    const list = section.querySelector(".list");
    const more = section.querySelector(".more");
    const rows = held.rows.map((row) => ({ row, text: `${row[0]} ${row[4]} ${row[5]}`.toLowerCase() }));
    let found = [], count = STEP;
    const item = ([text, marks, outcome, condition, said, about, lean]) => {
      const made = element("li");
      const facts = element("span", "facts");
      const fact = (name, value) => {
        const one = element("span", "", name ? `${name}: ` : "");
        one.append(element("b", "", value));
        facts.append(one);
      };
      fact("", held.outcomes[outcome][language]);
      fact("", held.conditions[condition][language]);
      fact(words().said, said || words().nothing);
      if (lean !== null)
        fact(words().lean, signed(lean, 2) + (held.unit ? ` ${held.unit[language]}` : ""));
      made.append(sentence(text, marks), facts);
      made.dataset.outcome = held.outcomes[outcome][ENGLISH];
      if (lean !== null) made.dataset.lean = lean;
      return made;
    };
    const paint = () => {
      list.replaceChildren(...found.slice(0, count).map(({ row }) => item(row)));
      more.hidden = count >= found.length;
      section.querySelector(".count").textContent =
        `${shown(found.length.toLocaleString("en"))} ${found.length === 1 ? words().match : words().matches}`;
    };
    const update = () => {
      const wanted = form.elements.search.value.trim().toLowerCase();
      const outcome = form.elements.outcome.value;
      const sort = form.elements.sort.value;
      found = rows.filter(({ row, text }) =>
        (!wanted || text.includes(wanted)) && (outcome === "" || row[2] === Number(outcome)));
      const side = sort === "female" ? 1 : -1;
      if (sort !== "file") found.sort((a, b) => side * ((a.row[6] ?? 0) - (b.row[6] ?? 0)));
      count = STEP;
      paint();
    };
    const fill = () => {
      const select = form.elements.outcome, kept = select.value;
      const choices = [["", words().any], ...held.outcomes.map((one, n) => [String(n), one[language]])];
      select.replaceChildren(...choices.map(([value, text]) => {
        const choice = element("option", "", text);
        choice.value = value;
        return choice;
      }));
      select.value = kept;
      paint();
    };
    if (!held.rows.some((row) => row[6])) {
      form.elements.sort.value = "file";
      form.elements.sort.parentElement.hidden = true;
    }
    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    more.addEventListener("click", () => {
      const first = count;
      count += STEP;
      paint();
      const next = list.children[first];
      if (next) { next.tabIndex = -1; next.focus({ preventScroll: true }); }
    });
    update();
    return fill;
  };
  const explorers = [...document.querySelectorAll("[data-examples]")].map(explorer);

  // Tables that can be sorted by their headings; what is undefined comes last either way.
  const value = (row, column, kind) => {
    const cell = row.cells[column];
    if (kind === "text") return cell.textContent.trim().toLowerCase();
    const number = cell.querySelector(".n");
    return number ? Number(number.dataset.value) : null;
  };
  for (const button of document.querySelectorAll("table.sortable .sort"))
    button.addEventListener("click", () => {
      const heading = button.parentElement;
      const body = heading.closest("table").tBodies[0];
      const upwards = heading.getAttribute("aria-sort") !== "ascending";
      for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", upwards ? "ascending" : "descending");
      const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0) * (upwards ? 1 : -1);
      const rows = [...body.rows].map((row) => [value(row, heading.cellIndex, button.dataset.sort), row]);
      rows.sort(([a], [b]) => (a === null) - (b === null) || compare(a, b));
      body.replaceChildren(...rows.map(([, row]) => row));
    });

  // Languages
  const numbers = [...document.querySelectorAll(".n")].map((one) => [one, one.textContent]);
  const speak = (wanted) => {
    language = Object.hasOwn(page.words, wanted) ? wanted : ENGLISH;
    root.lang = language;
    for (const [one, text] of numbers) one.textContent = shown(text);
    for (const one of document.querySelectorAll("[data-texts]")) {
      const text = JSON.parse(one.dataset.texts)[language];
      if (one.dataset.attribute) one.setAttribute(one.dataset.attribute, text);
      else one.textContent = text;
    }
    for (const button of document.querySelectorAll("[data-language]"))
      button.setAttribute("aria-pressed", String(button.dataset.language === language));
    explorers.forEach((fill) => fill());
    for (const place of plots) { near.unobserve(place); near.observe(place); }
  };
  for (const button of document.querySelectorAll("[data-language]"))
    button.addEventListener("click", () => {
      speak(button.dataset.language);
      try { localStorage.setItem("gendalens-language", language); } catch { /* not kept, no harm */ }
    });
  let wanted = null;
  try { wanted = localStorage.getItem("gendalens-language"); } catch { /* from disk it may be shut */ }
  speak(wanted ?? (navigator.language || ENGLISH).split("-")[0]);

  // Paper has no folds, and shows what was never scrolled to.
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    drawAll();
  });
})();
