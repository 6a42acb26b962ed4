import { type ComponentType, useCallback, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { EditorProps, Selection } from './editor-props.ts';

type CodeMirror = ComponentType<EditorProps & { focusAt: Selection | undefined }>;

/** A code editor. It begins as a plain text area, because most people only read; the editor with its colors and completions, which weighs
 *  as much as the rest of the page, loads when the pointer or the focus comes to it. */
export function Editor(props: EditorProps) {
  const { label, value, onChange, readOnly = false, height = '16rem' } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const [loaded, setLoaded] = useState<{ CodeMirror: CodeMirror; focusAt: Selection | undefined }>();
  const load = useCallback(() => {
    const replace = ({ default: CodeMirror }: { default: CodeMirror }) => {
      const field = area.current;
      // Done synchronously, so that no key press comes between the two.
      if (field) flushSync(() => setLoaded({ CodeMirror, focusAt: selectionOf(field) }));
    };
    // If the editor does not load, the text area stays.
    import('./code-mirror.tsx').then(replace, () => {});
  }, []);
  if (loaded) return <loaded.CodeMirror {...props} focusAt={loaded.focusAt} />;
  return (
    <textarea
      ref={area}
      aria-label={label}
      value={value}
      readOnly={readOnly}
      onChange={({ target }) => onChange?.(target.value)}
      onFocus={load}
      onPointerEnter={load}
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
      style={{ height }}
      className="block w-full resize-none rounded-md border border-line-strong bg-surface px-3 py-1 font-mono text-[0.8125rem] text-text"
    />
  );
}

/** undefined: the text area does not have the focus. */
function selectionOf(field: HTMLTextAreaElement): Selection | undefined {
  if (document.activeElement !== field) return;
  return { anchor: field.selectionStart, head: field.selectionEnd };
}
