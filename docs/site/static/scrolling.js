/* What scrolls sideways can be scrolled with the keys: it takes the focus, as long as it is wider than its place. */
document.addEventListener("DOMContentLoaded", () => {
  const all = document.querySelectorAll("article pre, article .table-wrapper");
  const mark = (one) => {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  };
  const watch = new ResizeObserver((changes) => changes.forEach((change) => mark(change.target)));
  all.forEach((one) => {
    mark(one);
    watch.observe(one);
  });
});
