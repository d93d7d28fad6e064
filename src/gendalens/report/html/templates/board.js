"use strict";
// Filters of models and tests: what does not fit is hidden in every table of the page.
(() => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const form = document.querySelector("form.filters");
  if (!form || !page.board) return;
  const { models, columns } = page.board;
  const count = document.querySelector(".count.shown");
  const marked = [...document.querySelectorAll("[data-models], [data-column]")].map((element) => ({
    element,
    models: (element.dataset.models ?? "").split(" ").filter(Boolean).map(Number),
    column: element.dataset.column === undefined ? null : Number(element.dataset.column),
  }));
  const say = (shown) => {
    const language = document.documentElement.lang;
    const { decimal, thousands } = page.numbers[language];
    const write = (number) => number.toLocaleString("en")
      .replace(/[.,]/g, (sign) => (sign === "." ? decimal : thousands));
    count.textContent = page.words[language][page.board.counted ?? "shown"]
      .replace("{shown}", write(shown)).replace("{total}", write(models.length));
  };
  let shown = models.length;
  const filter = () => {
    const chosen = (name) => form.elements[name]?.value ?? "";
    const fits = (one, name) => chosen(name) === "" || one[name] === Number(chosen(name));
    const wanted = form.elements.search.value.trim().toLowerCase();
    const open = columns.map((one) => ["data", "protocol", "version"].every((name) => fits(one, name)));
    const kept = models.map((one) =>
      one.text.includes(wanted) && fits(one, "kind") && one.columns.some((place) => open[place]));
    for (const { element, models, column } of marked)
      element.hidden = !models.every((place) => kept[place]) || (column !== null && !open[column]);
    shown = kept.filter(Boolean).length;
    say(shown);
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.documentElement.addEventListener("spoken", () => say(shown));
  filter();
})();
