// Wide tables and long lines of code scroll, and a keyboard must reach them to scroll them. The theme wraps
// tables after the page is loaded.
const SCROLLING = ".md-typeset__scrollwrap, .md-typeset pre > code";
const makeReachable = () => {
  for (const box of document.querySelectorAll(SCROLLING)) box.tabIndex = 0;
};
makeReachable();
new MutationObserver(makeReachable).observe(document.body, { childList: true, subtree: true });
// The theme gives the dialog of the search no name.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
