(function () {
try {
var theme = localStorage.getItem('papertick-theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
}
})();