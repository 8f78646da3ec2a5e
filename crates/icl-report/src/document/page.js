// Opens and closes the folded lines of a chart with the list of their names, and shows a line whose name is pressed.
document.documentElement.classList.add("scripted");
for (const fold of document.querySelectorAll("details.fold")) {
  const figure = fold.closest("figure");
  fold.addEventListener("toggle", () => figure.classList.toggle("open", fold.open));
  fold.addEventListener("click", (event) => {
    const name = event.target.closest("button");
    if (name === null) return;
    const isOn = name.getAttribute("aria-pressed") === "false";
    name.setAttribute("aria-pressed", isOn);
    for (const mark of figure.querySelectorAll("svg [data-series]")) {
      if (mark.dataset.series === name.dataset.series) mark.classList.toggle("lit", isOn);
    }
  });
}
