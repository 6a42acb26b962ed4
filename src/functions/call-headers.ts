/** Headers that identify a call to its app (docs/protocol.md#headers). */
import type { Dialect } from '../model/apps/app.ts';
import type { CallContext } from './call-request.ts';
import { headerName } from './headers.ts';

const VISIBLE_ASCII = /^[!-~]*$/;

export function identifyingHeaders(
  dialect: Dialect,
  { run, jobId, stepId, startedAt, whatIf }: CallContext,
): Record<string, string> {
  return {
    'x-run-id': run.id,
    'x-request-id': run.requestId,
    [headerName(dialect, 'run-id')]: run.id,
    [headerName(dialect, 'step-id')]: headerText(stepId ?? 'step'),
    [headerName(dialect, 'job-id')]: headerText(jobId),
    ...(run.pin && { [headerName(dialect, 'app-version')]: headerText(run.pin.version) }),
    // Distinguishes executions of a job: of two workers that both hold it, the later one has the greater number.
    [headerName(dialect, 'generation-id')]: String(startedAt),
    ...(whatIf && { [headerName(dialect, 'what-if')]: '1' }),
  };
}

/** An app chooses its step IDs; headers do not support all characters. */
function headerText(text: string): string {
  return VISIBLE_ASCII.test(text) ? text : encodeURIComponent(text.toWellFormed());
}
