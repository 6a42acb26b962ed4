import type { ErrorSource as Source } from '../../../../src/model/runs/error-source.ts';
import { CopyButton } from '../../ui/code-block.tsx';

/** The source of an error or of one of its causes, whose fields the service does not know. */
export function sourceOf(error: object): Source | undefined {
  const { file, line, lines } = ((error as { source?: Partial<Source> | null }).source ?? {}) as Partial<Source>;
  if (typeof file !== 'string' || typeof line !== 'number' || !Array.isArray(lines)) return undefined;
  return { file, line, lines };
}

/** The line of the app's code that raised an error, with surrounding lines. */
export function ErrorSource({ source: { file, line, lines } }: { source: Source }) {
  const width = String(lines.at(-1)?.line ?? line).length;
  return (
    <figure className="min-w-0 rounded-md border border-line bg-sunken">
      <figcaption className="flex items-center justify-between gap-2 border-b border-line px-3 py-1">
        <span className="min-w-0 font-mono text-xs break-all">
          {file}:{line}
        </span>
        <CopyButton text={`${file}:${line}`} label="Copy file and line" />
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="overflow-x-auto py-1.5 font-mono text-xs leading-relaxed"
      >
        {lines.map(({ line: number, text }) => (
          <div key={number} className={`px-3 ${number === line ? 'bg-bad-soft font-semibold' : ''}`}>
            {number === line ? '› ' : '  '}
            {String(number).padStart(width)} {text}
          </div>
        ))}
      </pre>
    </figure>
  );
}
