// The frame in which pages show an email: an empty document that shows what its parent posts to it.
// Its own policy blocks the email's scripts, forms and connections, and its sandbox keeps it out of
// our origin.
import { createHash } from 'node:crypto';
import { framePolicy } from './security-headers.ts';

/**
 * What DOMParser parses never runs. Replacing the whole element keeps the listener, so the next
 * post shows the next email. `images: false` shows it as email programs do that load no images. The
 * height and its first words are posted because the parent cannot look inside; `measured: false`
 * spares a thumbnail that.
 */
const SCRIPT = `
const tell = () => parent.postMessage({ height: document.documentElement.scrollHeight }, '*');
const sizes = new ResizeObserver(tell);
const inLine = /^(a|abbr|b|bdi|bdo|code|em|font|i|mark|s|small|span|strong|sub|sup|u|#text)$/i;
const apart = (node) => (node && !inLine.test(node.nodeName) ? ' ' : '');
const firstWords = (body) => {
  let words = '';
  const nodes = document.createTreeWalker(body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  while (words.length < 600 && nodes.nextNode()) {
    const { parentNode, previousSibling, data } = nodes.currentNode;
    if (data === undefined) words += apart(nodes.currentNode);
    else if (!/^(style|script|title)$/i.test(parentNode.nodeName)) {
      words += apart(previousSibling) + data.slice(0, 600);
    }
  }
  return words;
};
addEventListener('message', (event) => {
  if (event.source !== parent || typeof event.data?.html !== 'string') return;
  const shown = new DOMParser().parseFromString(event.data.html, 'text/html');
  const { images, measured } = event.data;
  if (measured !== false) parent.postMessage({ words: firstWords(shown.body) }, '*');
  for (const link of shown.querySelectorAll('a[href], area[href]')) {
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
  }
  if (images === false) {
    for (const image of shown.querySelectorAll('img, [background]')) {
      for (const name of ['src', 'srcset', 'background']) image.removeAttribute(name);
    }
    const off = shown.createElement('style');
    off.textContent = '* { background-image: none !important } img { outline: 1px dashed #9aa0a6 }';
    shown.head.append(off);
  }
  for (const meta of shown.querySelectorAll('meta[http-equiv]')) meta.remove();
  document.replaceChild(document.adoptNode(shown.documentElement), document.documentElement);
  sizes.disconnect();
  if (measured === false) return;
  sizes.observe(document.documentElement);
  tell();
});
parent.postMessage({ ready: true }, '*');
`;

export const FRAME_HTML = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Email</title><script>${SCRIPT}</script></head>
<body></body>
</html>
`;

export const FRAME_POLICY = framePolicy(
  `sha256-${createHash('sha256').update(SCRIPT).digest('base64')}`,
);
