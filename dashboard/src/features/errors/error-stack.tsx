import { type ReactNode, useMemo } from 'react';
import { parseStack } from '../../../../src/model/errors/stack.ts';
import type { StackFrame } from '../../../../src/model/errors/stack-frame.ts';
import { CopyButton } from '../../ui/code-block.tsx';

const NAMED_LIBRARIES = 3;

/** A stack trace: the app's own frames are open, frames of libraries and runtimes are folded. */
export function ErrorStack({ stack }: { stack: string }) {
  const { frames, failedIn } = useMemo(() => parseStack(stack), [stack]);
  return (
    <div className="min-w-0 rounded-md border border-line bg-sunken">
      <div className="flex items-center justify-between gap-2 border-b border-line px-3 py-1">
        <p className="text-xs text-muted">Stack trace{failedIn === 'last' && ', most recent call last'}</p>
        <CopyButton text={stack} label="Copy stack trace" />
      </div>
      {frames.length === 0 ? (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          className="max-h-96 overflow-auto p-3 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap"
        >
          {stack}
        </pre>
      ) : (
        <ol className="py-1.5 font-mono text-xs leading-relaxed">
          {groupsOf(frames).map(({ key, isOwn, frames: some }) =>
            isOwn ? some.map((frame) => <Frame key={key} frame={frame} />) : <Folded key={key} frames={some} />,
          )}
        </ol>
      )}
    </div>
  );
}

function Frame({ frame }: { frame: StackFrame }) {
  const { name, file, line, column, text } = frame;
  const lines = text.split('\n').slice(1);
  const isPython = text.startsWith('File ');
  return (
    <li className="px-3 py-1">
      {file === undefined ? (
        <span className="break-all">{text}</span>
      ) : (
        <>
          <span className="font-semibold break-all">{name ?? '(anonymous)'}</span>{' '}
          <span className="break-all text-muted">
            {file}:{line}
            {column !== undefined && `:${column}`}
          </span>
        </>
      )}
      {isPython && lines.length > 0 && (
        <pre className="mt-0.5 break-words whitespace-pre-wrap text-muted">{lines.join('\n')}</pre>
      )}
    </li>
  );
}

function Folded({ frames }: { frames: readonly StackFrame[] }) {
  const count = frames.length === 1 ? '1 frame' : `${frames.length} frames`;
  return (
    <li className="px-3 py-1">
      <details>
        <summary className="cursor-pointer text-muted hover:text-ink">
          {count} of {librariesOf(frames)}
        </summary>
        <ol className="mt-1 border-l border-line">
          {frames.map((frame, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the frames of a stack stay
            <Frame key={i} frame={frame} />
          ))}
        </ol>
      </details>
    </li>
  );
}

function librariesOf(frames: readonly StackFrame[]): ReactNode {
  const names = [...new Set(frames.flatMap(({ library }) => library ?? []))];
  return names.slice(0, NAMED_LIBRARIES).join(', ') + (names.length > NAMED_LIBRARIES ? ', …' : '');
}

interface FrameGroup {
  key: number;
  /** Whether the frame is the app's own code; each such frame is a separate group. */
  isOwn: boolean;
  frames: StackFrame[];
}

/** Neighbors that are not the app's own are together. */
function groupsOf(frames: readonly StackFrame[]): FrameGroup[] {
  const groups: FrameGroup[] = [];
  for (const [key, frame] of frames.entries()) {
    const isOwn = frame.library === undefined;
    const last = groups.at(-1);
    if (last && !last.isOwn && !isOwn) last.frames.push(frame);
    else groups.push({ key, isOwn, frames: [frame] });
  }
  return groups;
}
