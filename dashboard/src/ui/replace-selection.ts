import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

/** Typing over selected text. Left to Chromium, it would give the new text the colour of the old by an inline style, which the page's
 *  policy forbids. What is composed (an input method, dead keys) must be left to it. */
export const replaceSelection: Extension = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data: text, isComposing } = event;
    const { from, to, empty } = view.state.selection.main;
    if (inputType !== 'insertText' || !text || empty || isComposing || view.composing || view.state.readOnly) {
      return false;
    }
    const insert = () =>
      view.state.update(view.state.replaceSelection(text), { userEvent: 'input.type', scrollIntoView: true });
    // Brackets, for one, are put around what is selected.
    const handled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert));
    if (!handled) view.dispatch(insert());
    return true;
  },
});
