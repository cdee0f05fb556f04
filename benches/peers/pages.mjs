// The pages that all tools work on, from a server of the driver.

import { createServer } from 'node:http';
import { once } from 'node:events';

const page = (title, body) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,"></head><body>${body}</body></html>`;

const FORM = page('form', `<button id="press">press me</button> <input id="field" aria-label="field">
<script>
  window.clicks = 0;
  document.getElementById('press').addEventListener('click', event => { if (event.isTrusted) window.clicks += 1; });
</script>`);

/** A button is three nodes of the accessibility tree: itself, its text, a line of the text. */
export const buttonsOf = nodes => Math.ceil(nodes / 3);

const many = nodes => page(`${nodes} nodes`, Array.from(
  { length: buttonsOf(nodes) },
  (_, at) => `<button>button ${at}</button>`,
).join('\n'));

/** They load, and are stuck soon after: whoever opens them is done with that by then. */
const soon = script => page('stuck', `<p>soon stuck</p><script>onload = () => setTimeout(() => { ${script} }, 700);</script>`);
const LOOP = soon('for (;;);');
/** It stands in a request that is never answered: stuck, and no load on the machine that all measure on. */
const STUCK = soon("const request = new XMLHttpRequest(); request.open('GET', '/never', false); request.send();");

/** Serves them until `close` is called. Stuck pages are of sites of their own, so of other renderers. */
export async function served() {
  const kept = new Map([['/blank', page('blank', '<p>blank</p>')], ['/form', FORM], ['/loop', LOOP], ['/stuck', STUCK]]);
  for (const nodes of [1_000, 10_000]) kept.set(`/nodes/${nodes}`, many(nodes));
  const server = createServer((asked, answer) => {
    const { pathname } = new URL(asked.url, 'http://localhost');
    if (pathname === '/never') return;
    const body = kept.get(pathname);
    answer.writeHead(body ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
    answer.end(body ?? 'no such page');
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address();
  return {
    url: path => `http://127.0.0.1:${port}${path}`,
    elsewhere: (path, at = 0) => `http://127.0.0.${2 + at}:${port}${path}`,
    close: () => server.closeAllConnections() ?? server.close(),
  };
}
