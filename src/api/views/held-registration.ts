/** The API's representation of a held registration, which waits for a confirmation. */
import { z } from 'zod';
import type { HeldRegistration, RefusedRegistrations } from '../../model/apps/held-registration.ts';
import { proposedPattern } from '../../origin-patterns.ts';
import { apiObject, textOrNull } from '../http/validation.ts';
import { present } from './present.ts';

export const heldRegistrationSchema = apiObject('HeldRegistration', {
  id: z.string().describe('All registrations of the app at this URL with these origins share the ID'),
  app: z.string(),
  url: z.url(),
  origins: z
    .array(z.string())
    .describe('Origins of the URL and of functions that are not allowed yet; a confirmation allows them'),
  present_url: textOrNull.describe('The present URL of the app, which remains in use; null: the app is not registered'),
  proposed_pattern: textOrNull.meta({
    description:
      'A pattern of allowed origins that matches both URLs; present when each deployment seems to get its own host',
    examples: ['https://shop-*-acme.example.app'],
  }),
  sdk: textOrNull,
  framework: textOrNull,
  function_count: z.int(),
  first_at: z.iso.datetime(),
  last_at: z.iso.datetime(),
  refused: z
    .object({ count: z.int(), last_at: z.iso.datetime(), last_url: z.url() })
    .nullable()
    .describe(
      'Number of further registrations of the app, which were rejected because the maximum is already waiting. If the last one is yours, allow its origin with `PUT /v1/allowed-origins/:app`',
    ),
});

interface HeldAppState {
  /** undefined if the app is not registered. */
  presentUrl: string | undefined;
  refused: RefusedRegistrations | undefined;
}

export function presentHeld(held: HeldRegistration, appState: HeldAppState) {
  const { presentUrl } = appState;
  const [origin] = held.origins;
  const pattern =
    presentUrl !== undefined && origin !== undefined && proposedPattern(new URL(presentUrl).origin, origin);
  return present(heldRegistrationSchema, { ...held, ...appState }, { proposed_pattern: pattern || null });
}
