import type { Run } from '../../api/types.ts';
import { Code } from '../../ui/code-block.tsx';

/** An error of the app's code: what it says, and where it was thrown. */
export function Failure({ error: { name, message, stack } }: { error: NonNullable<Run['error']> }) {
  return (
    <div className="min-w-0 space-y-2">
      <p className="break-words whitespace-pre-wrap">
        <span className="font-medium text-bad">{name}</span>
        {message && <>: {message}</>}
      </p>
      {stack && <Code text={stack} label="Copy the stack" wrap={false} />}
    </div>
  );
}
