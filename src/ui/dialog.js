// The open dialog of a tab, and its answer. It is meant by its id: another one that opened meanwhile is not answered.

import { attribute, make, say, shown, text } from './dom.js';
import { work } from './service.js';

const WORDS = { alert: 'An alert', confirm: 'A question', prompt: 'A prompt', beforeunload: 'A question before leaving' };

export function createDialog(tab) {
  const field = `answer-${tab.tabId}`;
  const form = make('form', { class: 'dialog', hidden: true, 'aria-label': `Dialog of ${tab.tabId}`, onsubmit: event => {
    event.preventDefault();
    answer(form, true);
  } });
  const it = form.it = {
    kind: make('strong'),
    message: make('q'),
    label: make('label', { for: field }, 'Answer'),
    field: make('input', { id: field, type: 'text', autocomplete: 'off' }),
    accept: make('button', { class: 'strong' }, 'Accept'),
    dismiss: make('button', { type: 'button', onclick: () => answer(form, false) }, 'Dismiss'),
  };
  form.append(
    make('p', {}, it.kind, ' ', it.message),
    make('div', { class: 'reply' }, it.label, it.field, it.accept, it.dismiss));
  return form;
}

export function updateDialog(form, tab) {
  const { it } = form;
  const { dialog } = tab;
  form.tab = tab;
  shown(form, Boolean(dialog));
  if (!dialog) {
    delete form.dataset.dialog;
    return;
  }
  const isNew = form.dataset.dialog !== dialog.id;
  form.dataset.dialog = dialog.id;
  text(it.kind, `${WORDS[dialog.type] ?? dialog.type}:`);
  text(it.message, dialog.message || 'without words');
  const asks = dialog.type === 'prompt';
  shown(it.label, asks);
  shown(it.field, asks);
  if (isNew) it.field.value = dialog.defaultValue ?? '';
  const leaves = dialog.type === 'beforeunload';
  text(it.accept, leaves ? 'Leave' : 'Accept');
  text(it.dismiss, leaves ? 'Stay' : 'Dismiss');
  attribute(it.accept, 'aria-label', `${it.accept.textContent} the dialog of ${tab.tabId}`);
  attribute(it.dismiss, 'aria-label', `${it.dismiss.textContent} the dialog of ${tab.tabId}`);
}

async function answer(form, accept) {
  const { tabId, profile, dialog } = form.tab;
  const body = { targetId: tabId, dialogId: dialog.id, accept };
  if (accept && dialog.type === 'prompt') body.promptText = form.it.field.value;
  try {
    await work('POST', 'hooks/dialog', profile, body);
    say(`The dialog of ${tabId} is ${accept ? 'accepted' : 'dismissed'}`);
  } catch (failure) {
    say(`The dialog of ${tabId}: ${failure.message}`, true);
  }
}
