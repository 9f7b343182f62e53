// Runs before the first paint, so that a chosen theme does not flash the other one.
(function () {
  try {
    var theme = localStorage.getItem('papertick-theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be refused; the system's theme is used then.
  }
})();
