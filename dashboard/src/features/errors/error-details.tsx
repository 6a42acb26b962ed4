import type { Run } from '../../api/types.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorSource, sourceOf } from './error-source.tsx';
import { ErrorStack } from './error-stack.tsx';

type RunError = NonNullable<Run['error']>;

/** Number of nested causes that the service keeps as errors, plus one. */
const CAUSES_MAX = 6;

/** An error thrown by the app's code: its location, stack, code and data, and the error or value that caused it. */
export function ErrorDetails({ error, causes = 0 }: { error: RunError; causes?: number }) {
  const { name, message, stack, code, data, cause } = error;
  const source = sourceOf(error);
  return (
    <div className="min-w-0 space-y-2">
      <p className="break-words whitespace-pre-wrap">
        <span className="font-medium text-bad">{name}</span>
        {message && <>: {message}</>}
        {code !== undefined && <span className="text-muted"> (code {code})</span>}
      </p>
      {source && <ErrorSource source={source} />}
      {stack && <ErrorStack stack={stack} />}
      {data !== undefined && <Value title="Data" value={data} />}
      {cause !== undefined && <Cause cause={cause} causes={causes + 1} />}
    </div>
  );
}

function Cause({ cause, causes }: { cause: unknown; causes: number }) {
  if (!isError(cause) || causes > CAUSES_MAX) return <Value title="Cause" value={cause} />;
  return (
    <div className="border-l-2 border-line pl-3">
      <p className="text-sm text-muted">Caused by</p>
      <ErrorDetails error={{ ...cause, name: cause.name ?? 'Error' }} causes={causes} />
    </div>
  );
}

function isError(value: unknown): value is Omit<RunError, 'name'> & { name?: string } {
  return typeof value === 'object' && value !== null && typeof (value as RunError).message === 'string';
}

function Value({ title, value }: { title: string; value: unknown }) {
  return (
    <div>
      <p className="text-sm text-muted">{title}</p>
      <CodeBlock text={JSON.stringify(value, undefined, 2)} label={`Copy ${title.toLowerCase()}`} />
    </div>
  );
}
