import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

/** Replaces selected text when the user types. Chromium would style the new text inline, like the old, which the CSP forbids.
 *  Composed text (input methods, dead keys) is left to the browser. */
export const replaceSelection: Extension = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data: text, isComposing } = event;
    const { from, to, empty } = view.state.selection.main;
    if (inputType !== 'insertText' || !text || empty || isComposing || view.composing || view.state.readOnly) {
      return false;
    }
    const insert = () =>
      view.state.update(view.state.replaceSelection(text), { userEvent: 'input.type', scrollIntoView: true });
    // For example, brackets go around the selection.
    const handled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert));
    if (!handled) view.dispatch(insert());
    return true;
  },
});
