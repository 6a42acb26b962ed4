import type { Run } from '../../api/types.ts';
import { CodeBlock } from '../../ui/code-block.tsx';

/** An error thrown by the app's code, with its stack. */
export function ErrorDetails({ error: { name, message, stack } }: { error: NonNullable<Run['error']> }) {
  return (
    <div className="min-w-0 space-y-2">
      <p className="break-words whitespace-pre-wrap">
        <span className="font-medium text-bad">{name}</span>
        {message && <>: {message}</>}
      </p>
      {stack && <CodeBlock text={stack} label="Copy stack trace" wrap={false} />}
    </div>
  );
}
