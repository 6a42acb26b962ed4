/** Completion of paths into a value, such as `evt.repository.full_name` or `headers["X-Github-Event"]`. */
import type { Completion, CompletionSource } from '@codemirror/autocomplete';
import type { EditorView } from '@codemirror/view';
import type { EditorProps } from './editor-props.ts';

/** A partial path: names, dots, and keys in brackets. */
const PATH = /[\w$]+(?:\.[\w$]*|\[(?:"[^"\]]*"?|'[^'\]]*'?|\d*)\]?)*$/;
const PATH_SO_FAR = /^[\w$]+(?:\.[\w$]*|\[(?:"[^"\]]*"?|'[^'\]]*'?|\d*)\]?)*$/;
/** Closing characters that the editor added after the cursor. */
const CLOSING = /^["']?\]?/;

export function pathCompletion(completions: () => EditorProps['completions']): CompletionSource {
  return (context) => {
    const word = context.matchBefore(PATH);
    if (!word && !context.explicit) return null;
    const options = (completions() ?? []).map(
      (one): Completion => ({ ...one, apply: insert, boost: one.type === 'variable' ? 1 : 0 }),
    );
    return { from: word?.from ?? context.pos, options, validFor: PATH_SO_FAR };
  };
}

function insert(view: EditorView, { label }: Completion, from: number, to: number): void {
  const behind = view.state.sliceDoc(to, to + 2);
  const inBrackets = /\[["']?[^\]]*$/.test(view.state.sliceDoc(from, to));
  const closing = inBrackets ? (CLOSING.exec(behind)?.[0].length ?? 0) : 0;
  view.dispatch({
    changes: { from, to: to + closing, insert: label },
    selection: { anchor: from + label.length },
    userEvent: 'input.complete',
  });
}
