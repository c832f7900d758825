// Build the page, and redraw it when the width changes.
makeBackground();
if (solutions.length) {
  makeFront();
  makeWishes();
  makeList();
  state.chosen = knee(candidates());
} else {
  document.querySelectorAll("#front, #wishes, #chosen, #list, .skip").forEach((part) => part.remove());
}

let drawnWidth = 0;
function draw() {
  const { clientWidth } = document.documentElement;
  if (clientWidth === drawnWidth) return;
  drawnWidth = clientWidth;
  if (byId("front-plots")) drawFront();
  update();
  drawQuality();
}
draw();
window.addEventListener("resize", draw);
