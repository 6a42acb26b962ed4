import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Annotation, Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { editorLook } from './code-mirror-look.ts';
import type { EditorProps, Selection } from './editor-props.ts';
import { pathCompletion } from './path-completion.ts';
import { replaceSelection } from './replace-selection.ts';

/** Annotates a change that came from `value`, not from the user: `onChange` is not called. */
const EXTERNAL_CHANGE = Annotation.define<boolean>();

/** Browsers take seconds to wrap a line of 512 KB, as some providers send: long lines scroll sideways. */
const WRAPPED_LINE_CHARS = 10_000;
const lineWrapping = new Compartment();

function lineWrappingFor(text: string): Extension {
  const long = text.length > WRAPPED_LINE_CHARS && text.split('\n').some((line) => line.length > WRAPPED_LINE_CHARS);
  return long ? [] : EditorView.lineWrapping;
}

const LANGUAGES = { json: () => json(), javascript: () => javascript(), text: () => [] };

export default function CodeMirror({
  label,
  value,
  onChange,
  language,
  readOnly = false,
  height = '16rem',
  completions = [],
  diagnostics = [],
  focusAt,
}: EditorProps & { focusAt: Selection | undefined }) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const callbacks = useRef({ onChange, completions });
  callbacks.current = { onChange, completions };
  const initial = useRef(value);
  const focus = useRef(focusAt);

  useEffect(() => {
    const readOnlyState = new Compartment();
    const source = pathCompletion(() => callbacks.current.completions);
    const completionData = EditorState.languageData.of(() => [{ autocomplete: source }]);
    const created = new EditorView({
      parent: host.current as HTMLElement,
      state: EditorState.create({
        doc: initial.current,
        extensions: [
          editorLook(),
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          replaceSelection,
          highlightActiveLine(),
          lineWrapping.of(lineWrappingFor(initial.current)),
          LANGUAGES[language](),
          completionData,
          autocompletion({ icons: false }),
          lintGutter(),
          readOnlyState.of([EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)]),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          // Tab indents; Escape, then Tab leaves the editor.
          keymap.of([...defaultKeymap, ...historyKeymap, ...completionKeymap, indentWithTab]),
          EditorView.updateListener.of((update) => {
            const external = update.transactions.every((each) => each.annotation(EXTERNAL_CHANGE));
            if (update.docChanged && !external) callbacks.current.onChange?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    if (focus.current) {
      const { length } = created.state.doc;
      const { anchor, head } = focus.current;
      created.focus();
      created.dispatch({ selection: { anchor: Math.min(anchor, length), head: Math.min(head, length) } });
    }
    view.current = created;
    return () => created.destroy();
  }, [language, readOnly, label]);

  useEffect(() => {
    const editor = view.current;
    initial.current = value;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      annotations: EXTERNAL_CHANGE.of(true),
      effects: lineWrapping.reconfigure(lineWrappingFor(value)),
    });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const found = diagnostics.flatMap(({ line, column = 1, message }): Diagnostic[] => {
      if (line < 1 || line > editor.state.doc.lines) return [];
      const { from, to } = editor.state.doc.line(line);
      const at = Math.min(from + column - 1, to);
      return [{ from: at, to: Math.max(at, to), severity: 'error', message }];
    });
    editor.dispatch(setDiagnostics(editor.state, found));
  }, [diagnostics]);

  return (
    <div
      ref={host}
      style={{ height }}
      className="overflow-hidden rounded-md border border-line-strong focus-within:border-accent focus-within:outline-1 focus-within:outline-accent"
    />
  );
}
