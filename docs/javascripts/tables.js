// Wide tables and long lines of code scroll; a keyboard must reach them to scroll them.
const reachable = () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    box.tabIndex = 0;
  }
};
reachable();
