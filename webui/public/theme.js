// Runs before the first paint, so that the page does not flash in the wrong theme.
(function () {
  try {
    var theme = localStorage.getItem('papertick-theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be disabled; the theme of the system is used then.
  }
})();
