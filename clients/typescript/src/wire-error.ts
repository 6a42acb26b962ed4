/** Serialized errors: `{ name, message, stack? }`. */
import { inspect } from 'node:util';

export interface ErrorOnTheWire {
  name: string;
  message: string;
  stack?: string | undefined;
}

/** Serializes any thrown value. */
export function describeError(thrown: unknown): ErrorOnTheWire {
  if (thrown instanceof Error) return { name: thrown.name, message: thrown.message, stack: thrown.stack };
  return { name: 'Error', message: typeof thrown === 'string' ? thrown : inspect(thrown) };
}

/** Restores an Error with its original name, message and stack. */
export function reviveError({ name, message, stack }: Partial<ErrorOnTheWire>): Error {
  const error = new Error(message ?? 'The error has no message');
  error.name = name ?? 'Error';
  if (stack) error.stack = stack;
  return error;
}
