// Reports title, icon, whether the document has loaded and how often it was printed to a binding, whenever
// something of it changes.
// It lives in a world of its own: no global, listener, timer or property of it can be seen by the page.
(binding, titleLimit, iconLimit, pause) => {
  // Entered again (parsed, restored from the back-forward cache, read afresh): say it once more.
  if (globalThis.sayAgain) return void sayAgain();
  let said, root, head, planned = 0, free = 0, prints = 0;

  const icon = () => {
    for (const link of document.querySelectorAll('link[rel~="icon" i][href]')) {
      const { href } = link;
      if (typeof href === 'string' && href && href.length <= iconLimit) return href;
    }
    return null;
  };

  const say = () => {
    const title = String(document.title ?? '').slice(0, titleLimit).toWellFormed();
    const text = JSON.stringify({ title, icon: icon(), loaded: document.readyState === 'complete', prints });
    planned = 0;
    if (text === said) return;
    free = performance.now() + pause;
    said = text;
    globalThis[binding]?.(text);
  };

  // `scheduler` rather than `setTimeout`: ids of timers are counted for all worlds together, and pages
  // clear them by number. A task lost to disabled scripts must not silence this for ever.
  const soon = () => {
    const now = performance.now();
    if (planned && now < planned + 10 * pause) return;
    if (now >= free) return say();
    planned = free;
    scheduler.postTask(say, { delay: free - now });
  };

  const watcher = new MutationObserver(() => { follow(); soon(); });
  // The head only: what happens in the body costs nothing.
  const follow = () => {
    if (root === document.documentElement && head === document.head) return;
    root = document.documentElement;
    head = document.head;
    watcher.disconnect();
    watcher.observe(document, { childList: true });
    if (root) watcher.observe(root, { childList: true });
    if (head) watcher.observe(head, {
      childList: true, subtree: true, characterData: true, attributes: true, attributeFilter: ['href', 'rel'],
    });
  };

  // At once: with a window, the page may be held until somebody has answered the print dialog.
  addEventListener('beforeprint', () => { prints += 1; say() });

  globalThis.sayAgain = () => { said = undefined; follow(); say(); };
  sayAgain();
}
