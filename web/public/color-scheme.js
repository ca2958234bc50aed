// Sets the colour scheme before the first paint. Mantine's own way is an inline script, which the
// Content-Security-Policy (script-src 'self') does not allow.
(() => {
  let scheme = 'auto';
  try {
    scheme = localStorage.getItem('mantine-color-scheme-value') ?? 'auto';
  } catch {
    // Storage is blocked: the system's scheme it is.
  }
  const dark =
    scheme === 'dark' || (scheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
