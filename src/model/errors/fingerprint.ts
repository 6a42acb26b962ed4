/** Fingerprint of an error: equal for failures of one function that have the same reason, so that they form one group. */
import { hash } from 'node:crypto';
import type { RunError } from '../runs/run-error.ts';
import { normalizedMessage } from './normalized-message.ts';
import { ownFrameOf, parseStack } from './stack.ts';

export const FINGERPRINT_PATTERN = /^[\da-f]{32}$/;
const LENGTH = 32;

/** Characters read of each end of a stack; the failing frame is at one of the ends. */
const STACK_MAX = 4_096;
/** Number of trailing path parts compared: the folders above change from release to release. */
const PATH_PARTS = 2;
const NAME_MAX = 256;

/** @param step name of the step that failed; undefined if the function itself failed */
export function fingerprintOf(functionId: string, step: string | undefined, error: RunError): string {
  const { name, message, stack } = error;
  const parts = [
    functionId,
    step === undefined ? null : normalizedMessage(step),
    name.slice(0, NAME_MAX),
    normalizedMessage(message),
    stack === undefined ? null : frameOf(stack),
  ];
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, LENGTH);
}

/** Function and file of the app's first own frame, without the line number, which changes with each edit. */
function frameOf(stack: string): string | null {
  const frame = ownFrameOf(parseStack(ends(stack)));
  if (!frame) return null;
  const path = (frame.file ?? '').split(/[/\\]/).slice(-PATH_PARTS).join('/');
  return normalizedMessage(`${frame.name ?? ''} ${path}`);
}

function ends(stack: string): string {
  if (stack.length <= 2 * STACK_MAX) return stack;
  return `${stack.slice(0, STACK_MAX)}\n${stack.slice(-STACK_MAX)}`;
}
