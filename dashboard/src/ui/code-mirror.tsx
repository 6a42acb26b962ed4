import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Annotation, Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import type { EditorProps } from './editor-props.ts';
import { pathCompletion } from './path-completion.ts';
import { replaceSelection } from './replace-selection.ts';

const THEME = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '0.8125rem' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.6' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 6%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', border: '1px solid var(--line-strong)', color: 'var(--text)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', maxWidth: 'min(34rem, 90vw)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.15rem 0.5rem' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--text)' },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal', marginLeft: '0.75rem' },
  '.cm-completionMatchedText': { color: 'var(--accent)', textDecoration: 'none', fontWeight: '600' },
  '.cm-diagnostic': { fontFamily: 'var(--font-sans)', padding: '0.4rem 0.6rem' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '3px',
  },
  '.cm-placeholder': { color: 'var(--muted)' },
});

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--busy)' },
  { tag: [tags.comment], color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.propertyName], color: 'var(--accent)' },
]);

/** CodeMirror adds a style element, which the CSP allows only with the page's nonce (src/api/dashboard.ts). */
function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}

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
}: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const callbacks = useRef({ onChange, completions });
  callbacks.current = { onChange, completions };
  const initial = useRef(value);

  useEffect(() => {
    const readOnlyState = new Compartment();
    const source = pathCompletion(() => callbacks.current.completions);
    const completionData = EditorState.languageData.of(() => [{ autocomplete: source }]);
    const created = new EditorView({
      parent: host.current as HTMLElement,
      state: EditorState.create({
        doc: initial.current,
        extensions: [
          EditorView.cspNonce.of(nonce()),
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
          syntaxHighlighting(HIGHLIGHT),
          THEME,
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
