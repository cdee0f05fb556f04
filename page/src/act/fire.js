// The whole sequence of a click, made by a script.
const fire = (it, { button, count, modifiers }) => {
  const box = boxOf(it);
  const at = {
    bubbles: true, cancelable: true, composed: true, view: window, button,
    clientX: box.left + box.width / 2, clientY: box.top + box.height / 2,
    altKey: !!(modifiers & 1), ctrlKey: !!(modifiers & 2), metaKey: !!(modifiers & 4), shiftKey: !!(modifiers & 8),
  };
  const pointer = { pointerId: 1, pointerType: 'mouse', isPrimary: true };
  const give = (type, more) => {
    const init = { ...at, ...more };
    if (/enter$|leave$/.test(type)) init.bubbles = false;
    const kind = /^pointer|click$|contextmenu/.test(type) && type !== 'dblclick' ? PointerEvent : MouseEvent;
    return EventTarget.prototype.dispatchEvent.call(it, new kind(type, kind === PointerEvent ? { ...pointer, ...init } : init));
  };
  const buttons = [1, 4, 2][button];
  for (const type of ['pointerover', 'pointerenter', 'mouseover', 'mouseenter', 'pointermove', 'mousemove']) give(type, { buttons: 0 });
  for (let detail = 1; detail <= count; detail++) {
    give('pointerdown', { buttons, detail: 0 });
    if (give('mousedown', { buttons, detail })) {
      for (const up of chain(it)) {
        (up instanceof SVGElement ? SVGElement : HTMLElement).prototype.focus.call(up, { preventScroll: true });
        if (rootOf(up).activeElement === up) break;
      }
    }
    if (button === 2) give('contextmenu', { buttons, detail: 0 });
    give('pointerup', { buttons: 0, detail: 0 });
    give('mouseup', { buttons: 0, detail });
    give(button ? 'auxclick' : 'click', { buttons: 0, detail });
    if (detail === 2 && !button) give('dblclick', { buttons: 0, detail });
  }
};
