// Tells when a condition of the document holds: { said: 'held' }, or 'detached' for an element that
// left it, or 'stopped' after `left` ms. `el` is the element of a ref.
(asked, el) => {
  const { id, kind, text, css, left } = asked;
  const waits = (globalThis.tabvisorWaits ??= new Map());
  const squash = (it) => it.replace(/\s+/g, ' ').trim().toLowerCase();
  const needle = squash(text ?? '');
  const shows = (it) => {
    const view = it.ownerDocument.defaultView;
    const style = view?.getComputedStyle(it);
    if (!style || style.visibility !== 'visible') return false;
    if (style.display === 'contents') return [...it.children].some(shows);
    const box = it.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  };
  const has = (it) => squash(it ?? '').includes(needle);
  // What is not rendered gives its whole text as its inner one.
  const rendered = (it) => it.checkVisibility();
  const shown = (root) => {
    for (const it of root.children) {
      const inner = it.innerText;
      if (rendered(it) && has(inner === undefined ? it.textContent : inner)) return true;
    }
    if (root instanceof ShadowRoot)
      for (const it of root.childNodes) if (it.nodeType === 3 && has(it.data) && rendered(root.host)) return true;
    for (const it of root.querySelectorAll('*')) {
      if (it.shadowRoot && shown(it.shadowRoot)) return true;
      const tag = it.localName;
      if (tag === 'input' && /^(submit|button|reset)$/.test(it.type) && has(it.value) && shows(it)) return true;
      if (tag === 'iframe' || tag === 'frame') {
        const inside = it.contentDocument;
        if (inside && shows(it) && shown(inside)) return true;
      }
    }
    return false;
  };
  const check = () => {
    switch (kind) {
      case 'text': return shown(document);
      case 'textGone': return !shown(document);
      case 'selector': {
        for (const it of document.querySelectorAll(css)) if (shows(it)) return true;
        return false;
      }
      case 'parsed': return document.readyState !== 'loading';
      default: return shows(el);
    }
  };
  return new Promise((tell, fail) => {
    const end = performance.now() + left;
    let timer, due = Infinity, pause = 10;
    const observer = new MutationObserver(() => soon(pause));
    const stop = () => {
      clearTimeout(timer);
      observer.disconnect();
      waits.delete(id);
    };
    const done = (said) => {
      stop();
      tell({ said });
    };
    const soon = (ms) => {
      const at = performance.now() + ms;
      if (at >= due) return;
      due = at;
      clearTimeout(timer);
      timer = setTimeout(look, ms);
    };
    const look = () => {
      due = Infinity;
      const begun = performance.now();
      try {
        if (el && !el.isConnected) return done('detached');
        if (check()) return done('held');
      } catch (why) {
        stop();
        return fail(why);
      }
      const now = performance.now();
      if (now >= end) return done('stopped');
      // A large page pays at most a fifth of its time.
      pause = Math.max(10, 4 * (now - begun));
      // Styles, frames and shadow trees change without a mutation of this document.
      soon(Math.min(Math.max(250, pause), end - now));
    };
    waits.set(id, () => done('stopped'));
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    look();
  });
}
