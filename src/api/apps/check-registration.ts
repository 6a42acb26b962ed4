/** Parses and checks a registration; stores nothing. */
import { setImmediate } from 'node:timers/promises';
import type { FunctionLimits, Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import {
  type AppFunction,
  type Dialect,
  type RefusedFunction,
  type Registration,
  registrationSchema,
} from '../../model/apps/app.ts';
import { enforceQuotas } from '../../model/apps/quotas.ts';
import { checkFunctions } from '../../model/apps/registered-functions.ts';
import { type Unsupported, UnsupportedFields } from '../../model/apps/unsupported-fields.ts';
import { validate } from '../http/validation.ts';

/** How long the main thread validates expressions before other requests get their turn. */
const SLICE_MS = 10;

export interface SortedFunctions {
  registered: AppFunction[];
  refused: RefusedFunction[];
}

export interface CheckedFunctions extends SortedFunctions {
  /** undefined if the service acts on all fields. */
  unsupported: Unsupported | undefined;
}

/** Pauses regularly, so that other requests get their turn. */
export async function checkAll(
  registration: Registration,
  given: unknown,
  dialect: Dialect,
  limits: FunctionLimits,
): Promise<CheckedFunctions> {
  const all: SortedFunctions = { registered: [], refused: [] };
  const unsupported = new UnsupportedFields();
  unsupported.addRegistration(given);
  let sliceStartedAt = performance.now();
  for (const checked of checkFunctions(registration, dialect, limits)) {
    if (checked && 'registered' in checked) {
      all.registered.push(checked.registered);
      unsupported.addFunction(checked.registered.id, checked.registered.config);
    } else if (checked) all.refused.push(checked.refused);
    if (performance.now() - sliceStartedAt < SLICE_MS) continue;
    await setImmediate();
    sliceStartedAt = performance.now();
  }
  return { ...all, unsupported: unsupported.found };
}

/** @throws ServiceError quota_exceeded, registration_invalid */
export function parseRegistration(text: string, quotas: Quotas): { registration: Registration; given: unknown } {
  try {
    const given = JSON.parse(text);
    enforceQuotas(given, quotas);
    return { registration: validate(registrationSchema, given, 'field'), given };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'quota_exceeded') throw error;
    const detail = error instanceof ServiceError ? error.message : `the body is not JSON: ${(error as Error).message}`;
    throw new ServiceError('registration_invalid', { detail, cause: error });
  }
}
