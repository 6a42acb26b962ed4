import { type ComponentType, useCallback, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { ExpressionProps } from './expression-props.ts';

type Line = ComponentType<ExpressionProps & { focusAt: number | undefined }>;

/** One line of an expression. It begins as a plain field; the editor with its completions loads when the field is used. */
export function ExpressionField(props: ExpressionProps) {
  const { label, value, placeholder, onChange, onUse, onSubmit, error, describedBy } = props;
  const input = useRef<HTMLInputElement>(null);
  const [loaded, setLoaded] = useState<{ Line: Line; focusAt: number | undefined }>();
  const load = useCallback(() => {
    const replace = ({ default: Line }: { default: Line }) => {
      const field = input.current;
      if (!field) return;
      // The editor takes the field's focus and cursor.
      const focusAt = document.activeElement === field ? (field.selectionStart ?? undefined) : undefined;
      // Done synchronously, so that no key press comes between the two.
      flushSync(() => setLoaded({ Line, focusAt }));
    };
    // If the editor does not load, the plain field stays.
    import('./code-mirror-line.tsx').then(replace, () => {});
  }, []);
  useEffect(() => {
    if (error) load();
  }, [error, load]);
  if (loaded) return <loaded.Line {...props} focusAt={loaded.focusAt} />;
  return (
    <input
      ref={input}
      aria-label={label}
      aria-invalid={error !== undefined}
      aria-describedby={describedBy}
      data-page-search
      value={value}
      placeholder={placeholder}
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
      onFocus={() => {
        load();
        onUse?.();
      }}
      onChange={({ target }) => onChange(target.value)}
      onKeyDown={({ key }) => key === 'Enter' && onSubmit()}
      className="h-8 w-full rounded-md border border-line-strong bg-surface px-2.5 font-mono text-[0.8125rem] text-text placeholder:text-muted"
    />
  );
}
