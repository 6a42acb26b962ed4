import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { StreamLanguage } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { Annotation, EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap, placeholder as placeholderText } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { editorLook } from './code-mirror-look.ts';
import type { ExpressionCompletion, ExpressionProps } from './expression-props.ts';
import { replaceSelection } from './replace-selection.ts';

const LINE_THEME = EditorView.theme({
  '&': { height: '2rem' },
  '.cm-scroller': { overflowX: 'auto', overflowY: 'hidden', scrollbarWidth: 'none' },
  '.cm-content': { padding: '0.3rem 0' },
  '.cm-line': { padding: '0 0.625rem' },
});

/** Colors of texts, numbers, names and operators. */
const LANGUAGE = StreamLanguage.define({
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^"(?:[^"\\]|\\.)*"?|^'(?:[^'\\]|\\.)*'?/)) return 'string';
    if (stream.match(/^\d[\d.]*(?:[eE][+-]?\d+)?/)) return 'number';
    if (stream.match(/^(?:true|false|null)\b/)) return 'bool';
    if (stream.match(/^(?:&&|\|\||[=!<>]=?|in\b)/)) return 'operatorKeyword';
    if (stream.match(/^[\w$]+/)) return 'propertyName';
    stream.next();
    return null;
  },
});

/** A pasted text may have several lines. */
const ONE_LINE = EditorState.transactionFilter.of((transaction) => {
  if (transaction.newDoc.lines < 2) return transaction;
  const breaks = [...transaction.newDoc.toString().matchAll(/\n/g)];
  const changes = breaks.map(({ index }) => ({ from: index, to: index + 1, insert: ' ' }));
  return [transaction, { changes, sequential: true }];
});

/** Annotates a change that came from `value`, not from the user. */
const EXTERNAL_CHANGE = Annotation.define<boolean>();

export default function CodeMirrorLine(props: ExpressionProps & { focusAt: number | undefined }) {
  const { label, value, placeholder = '', error, describedBy } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    const { value: text, focusAt } = latest.current;
    const created = new EditorView({
      parent: host.current as HTMLElement,
      state: EditorState.create({
        doc: text.replaceAll('\n', ' '),
        extensions: [
          editorLook(),
          LINE_THEME,
          history(),
          closeBrackets(),
          replaceSelection,
          LANGUAGE,
          ONE_LINE,
          placeholderText(placeholder),
          // Enter searches, unless the user has selected a completion.
          autocompletion({
            icons: false,
            selectOnOpen: false,
            override: [(context) => completionsAt(context, latest.current)],
          }),
          EditorView.contentAttributes.of({
            'aria-label': label,
            'aria-multiline': 'false',
            'data-page-search': '',
            tabindex: '0',
          }),
          keymap.of([{ key: 'Enter', run: (editor) => submit(editor, latest.current) }]),
          Prec.low(keymap.of([...defaultKeymap, ...historyKeymap])),
          EditorView.updateListener.of((update) => {
            const external = update.transactions.every((each) => each.annotation(EXTERNAL_CHANGE));
            if (update.docChanged && !external) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    if (focusAt !== undefined) {
      created.focus();
      created.dispatch({ selection: { anchor: Math.min(focusAt, created.state.doc.length) } });
    }
    view.current = created;
    return () => created.destroy();
  }, [label, placeholder]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    const changes = { from: 0, to: editor.state.doc.length, insert: value };
    editor.dispatch({ changes, annotations: EXTERNAL_CHANGE.of(true) });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const { contentDOM, state } = editor;
    contentDOM.setAttribute('aria-invalid', String(error !== undefined));
    if (describedBy) contentDOM.setAttribute('aria-describedby', describedBy);
    else contentDOM.removeAttribute('aria-describedby');
    editor.dispatch(setDiagnostics(state, error ? [underlined(state, error)] : []));
  }, [error, describedBy]);

  return (
    <div
      ref={host}
      className="overflow-hidden rounded-md border border-line-strong focus-within:border-accent focus-within:outline-1 focus-within:outline-accent"
    />
  );
}

function submit(editor: EditorView, { onSubmit }: ExpressionProps): boolean {
  closeCompletion(editor);
  onSubmit();
  return true;
}

/** The word at the place, at least one character. */
function underlined(state: EditorState, { at, message }: { at: number; message: string }) {
  const text = state.doc.toString();
  const from = Math.max(0, Math.min(at, text.length - 1));
  const [word = ''] = /^\w+/.exec(text.slice(from)) ?? [];
  const to = Math.min(text.length, from + Math.max(1, word.length));
  return { from, to, severity: 'error' as const, message };
}

function completionsAt({ state, pos, explicit }: CompletionContext, { complete }: ExpressionProps) {
  const found = complete(state.sliceDoc(0, pos), state.sliceDoc(pos));
  if (!found || found.options.length === 0) return null;
  if (!explicit && found.from === pos && state.doc.length === 0) return null;
  const result: CompletionResult = {
    from: found.from,
    options: found.options.map(({ label, detail, ...rest }) => ({
      label,
      ...(detail !== undefined && { detail }),
      apply: (view: EditorView, _: unknown, from: number, to: number) => insert(view, { label, ...rest }, from, to),
    })),
  };
  return result;
}

function insert(view: EditorView, option: ExpressionCompletion, from: number, to: number): void {
  const text = option.insert ?? option.label;
  view.dispatch({
    changes: { from, to, insert: text },
    selection: { anchor: from + text.length - (option.cursorBack ?? 0) },
    userEvent: 'input.complete',
  });
}
