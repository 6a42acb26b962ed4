/** Describes a validation error: the field, the given value and the allowed ones. */
import type { z } from 'zod';
import { describe } from './json.ts';

/** @param given the validated value
 *  @param within the field of `given` that was validated; absent: all of it */
export function firstProblem({ issues }: z.ZodError, given: unknown, within?: string): string {
  const { path, message } = issues[0] as z.core.$ZodIssue;
  return issueText({ path: within === undefined ? path : [within, ...path], message }, given);
}

export function issueText({ path, message }: Pick<z.core.$ZodIssue, 'path' | 'message'>, given: unknown): string {
  const got = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], given);
  const field = path.length > 0 ? `field "${path.join('.')}": ` : '';
  return `${field}got ${describe(got)}: ${message}`;
}
