import type { Run } from '../../api/types.ts';
import { CodeBlock } from '../../ui/code-block.tsx';

/** An error thrown by the app's code, with its stack, and what it carries beside: code, data, and the error or value that caused it. */
export function ErrorDetails({ error }: { error: NonNullable<Run['error']> }) {
  const { name, message, stack, code, data, cause } = error;
  return (
    <div className="min-w-0 space-y-2">
      <p className="break-words whitespace-pre-wrap">
        <span className="font-medium text-bad">{name}</span>
        {message && <>: {message}</>}
        {code !== undefined && <span className="text-muted"> (code {code})</span>}
      </p>
      {stack && <CodeBlock text={stack} label="Copy stack trace" wrap={false} />}
      {data !== undefined && <Value title="Data" value={data} />}
      {cause !== undefined && <Value title="Cause" value={cause} />}
    </div>
  );
}

function Value({ title, value }: { title: string; value: unknown }) {
  return (
    <div>
      <p className="text-sm text-muted">{title}</p>
      <CodeBlock text={JSON.stringify(value, undefined, 2)} label={`Copy ${title.toLowerCase()}`} />
    </div>
  );
}
