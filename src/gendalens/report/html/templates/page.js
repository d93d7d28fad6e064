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
  // The title of a horizontal axis is in lines for a phone; elsewhere there is room for one.
  const joinTitle = (key, value) => (key === "x" && Array.isArray(value?.axis?.title)
    ? { ...value, axis: { ...value.axis, title: value.axis.title.join(" ") } } : value);
  const fit = (spec, place) =>
    (place.clientWidth < 480 ? spec : JSON.parse(JSON.stringify(spec, joinTitle)));
  const draw = (place) => {
    const spec = page.charts[place.dataset.chart];
    if (!spec) return;
    if (place.view) place.view.finalize();
    vegaEmbed(place, fit(spec[language], place), options())
      .then((drawn) => { place.view = drawn; place.dataset.drawn = language; })
      .catch(() => { place.parentElement.querySelector(".failed").hidden = false; });
  };
  const plots = [...document.querySelectorAll("[data-chart]")];
  // Charts out of sight are drawn when they come near: a page may hold many.
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries)
      if (entry.isIntersecting && entry.target.dataset.drawn !== language) draw(entry.target);
  }, { rootMargin: "600px" });
  const drawVisible = () => plots.forEach((place) => {
    if (place.offsetParent !== null && place.dataset.drawn !== language) draw(place);
  });

  // The numbers of a chart as a table: its columns are what a pointer is told.
  const findTooltip = (part) => {
    if (Array.isArray(part?.encoding?.tooltip)) return part.encoding.tooltip;
    for (const layer of part?.layer ?? []) {
      const found = findTooltip(layer);
      if (found) return found;
    }
    return null;
  };
  // As many decimals in a whole column as give its largest number three digits.
  const countDecimals = (values) => {
    const numbers = values.filter((one) => typeof one === "number");
    if (numbers.every(Number.isInteger)) return 0;
    return Math.max(1, 2 - Math.floor(Math.log10(Math.max(...numbers.map(Math.abs)))));
  };
  const written = (value, digits) =>
    typeof value !== "number" ? (value ?? "–")
      : shown(value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−"));
  const cell = (name, text, scope) => {
    const made = element(name, "", text);
    if (scope) made.scope = scope;
    return made;
  };
  const tabulate = (fold) => {
    const spec = page.charts[fold.dataset.numbers]?.[language];
    const columns = spec && findTooltip(spec);
    if (!columns) { fold.hidden = true; return; }
    const head = element("thead"), body = element("tbody"), names = element("tr");
    const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
    names.append(...columns.map((column) => cell("th", capital(column.title ?? column.field), "col")));
    head.append(names);
    const digits = columns.map(({ field }) => countDecimals(spec.datasets.rows.map((datum) => datum[field])));
    for (const datum of spec.datasets.rows) {
      const row = element("tr");
      row.append(...columns.map((column, place) =>
        cell(place ? "td" : "th", written(datum[column.field], digits[place]), place ? "" : "row")));
      body.append(row);
    }
    fold.querySelector("table").replaceChildren(head, body);
  };
  const folds = [...document.querySelectorAll("[data-numbers]")];
  for (const fold of folds) fold.addEventListener("toggle", () => { if (fold.open) tabulate(fold); });

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
    const rows = held.rows.map((row, place) => ({ row, place, text: `${row[0]} ${row[4]} ${row[5]}`.toLowerCase() }));
    const chosenCount = held.telling.length;
    let found = [], count = STEP;
    const reasons = new Map(held.telling);
    const percent = (share) =>
      shown(share > 0.999 ? "> 99.9%" : share < 0.001 ? "< 0.1%" : `${(100 * share).toFixed(1)}%`);
    const item = ([text, marks, outcome, condition, said, about, lean, shares], why) => {
      const made = element("li");
      const facts = element("span", "facts");
      const fact = (name, value) => {
        const one = element("span", "", name ? `${name}: ` : "");
        one.append(element("b", "", value));
        facts.append(one);
      };
      if (why !== undefined) facts.append(element("span", "why", held.reasons[why][language]));
      fact("", held.outcomes[outcome][language]);
      fact("", held.conditions[condition][language]);
      fact(words().said, said || words().nothing);
      if (lean !== null)
        fact(words().lean, signed(lean, 2) + (held.unit ? ` ${held.unit[language]}` : ""));
      if (shares.length)
        fact(words().shares, shares.map(([word, share]) => `${word} ${percent(share)}`).join(" · "));
      made.append(sentence(text, marks), facts);
      made.dataset.outcome = held.outcomes[outcome][ENGLISH];
      if (lean !== null) made.dataset.lean = lean;
      return made;
    };
    const paint = () => {
      const explained = form.elements.sort.value === "telling" && !form.elements.search.value;
      list.replaceChildren(...found.slice(0, count).map(({ row, place }) =>
        item(row, explained ? reasons.get(place) : undefined)));
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
      if (sort === "telling") {
        const chosen = held.telling.map(([place]) => place);
        const rank = ({ place }) => (chosen.indexOf(place) + chosen.length + 1) % (chosen.length + 1);
        found.sort((a, b) => rank(a) - rank(b));
      } else if (sort !== "file") found.sort((a, b) => side * ((a.row[6] ?? 0) - (b.row[6] ?? 0)));
      count = sort === "telling" && !wanted && outcome === "" && chosenCount ? chosenCount : STEP;
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
      for (const one of form.elements.sort.querySelectorAll("[value=male], [value=female]")) one.remove();
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
    if (!number) return null;
    return kind === "size" ? Math.abs(Number(number.dataset.value)) : Number(number.dataset.value);
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

  // Terms, explained where they stand
  const tip = document.getElementById("tip");
  const hideTip = () => { tip.hidden = true; };
  // The meaning of a term of the glossary stands there once, not beside every use.
  const explain = (term) => {
    if (term.dataset.tip) return term.dataset.tip;
    const meaning = document.querySelector(`#term-${term.dataset.term} dd`);
    return (meaning.querySelector(`.t[lang="${language}"]`) ?? meaning).textContent;
  };
  const showTip = (term) => {
    tip.textContent = explain(term);
    tip.hidden = false;
    term.setAttribute("aria-describedby", "tip");
    const at = term.getBoundingClientRect(), size = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
    tip.style.top = `${at.bottom + size.height + 12 > innerHeight ? at.top - size.height - 6 : at.bottom + 6}px`;
  };
  for (const term of document.querySelectorAll("[data-tip], [data-term]")) {
    for (const name of ["mouseenter", "focus"]) term.addEventListener(name, () => showTip(term));
    for (const name of ["mouseleave", "blur"]) term.addEventListener(name, hideTip);
    if (term.tagName === "BUTTON") term.addEventListener("click", () => showTip(term));
  }
  addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  // Tabbing to a term may scroll the page: its explanation stays with it.
  addEventListener("scroll", () => {
    const term = document.activeElement;
    if (!tip.hidden && term.matches(".term") && explain(term) === tip.textContent) showTip(term);
    else hideTip();
  }, { passive: true });

  // Tables wider than the page say so.
  const widths = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const wide = target.scrollWidth > target.clientWidth + 1;
      target.classList.toggle("wide", wide);
      target.previousElementSibling.hidden = !wide;
    }
  });
  for (const table of document.querySelectorAll(".scroll")) {
    table.before(element("p", "wide-hint"));
    widths.observe(table);
  }

  // Every row at once
  const rowsOfTests = [...document.querySelectorAll("details.row")];
  const all = document.querySelector(".all");
  const nameAll = () => { if (all) all.textContent = words()[rowsOfTests.every((one) => one.open) ? "close" : "open"]; };
  if (all) {
    all.hidden = false;
    all.addEventListener("click", () => {
      const open = !rowsOfTests.every((one) => one.open);
      for (const one of rowsOfTests) one.open = open;
      nameAll();
    });
    for (const one of rowsOfTests) one.addEventListener("toggle", nameAll);
  }

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
    for (const hint of document.querySelectorAll(".wide-hint")) hint.textContent = words().wide;
    nameAll();
    root.dispatchEvent(new Event("spoken"));
    for (const fold of folds) if (fold.open) tabulate(fold);
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

  // Paper shows what the reader has opened, and always data and signatures.
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("#sets, #signatures")) fold.open = true;
    drawVisible();
  });

  // A link to something folded opens it.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    const own = target.classList.contains("test") && target.querySelector("details.row");
    if (own) own.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  for (const link of document.querySelectorAll('a[href^="#"]'))
    link.addEventListener("click", () => { if (link.hash === location.hash) reveal(); });
  reveal();
})();
