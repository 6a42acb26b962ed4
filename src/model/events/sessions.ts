/** Sessions of an event: IDs by name, such as a chat or a customer. A run passes the sessions of its events on to the events that it
 *  sends; a sender may override or remove them. */
import { z } from 'zod';

/** Maximum per event. */
const SESSIONS_MAX = 5;
const NAME_MAX = 128;
const ID_MAX = 256;

/** IDs by name. */
export type Sessions = Record<string, string>;

/** Sessions as stored, and as functions receive them. */
export const metaSchema = z.object({ sessions: z.record(z.string(), z.string()) });

const nameSchema = z.string().min(1).max(NAME_MAX);
const idSchema = z.union([z.string().min(1).max(ID_MAX), z.number()]);

/** Sessions as senders write them. `sessions` overrides `propagated_sessions`: null removes one session, or all. */
export const sentMetaSchema = z
  .looseObject({
    sessions: z.record(nameSchema, idSchema.nullable()).nullish(),
    propagated_sessions: z.record(nameSchema, idSchema).nullish(),
  })
  .transform(({ sessions, propagated_sessions }) => merged(sessions, propagated_sessions ?? {}))
  .refine((sessions) => sessions === undefined || Object.keys(sessions).length <= SESSIONS_MAX, {
    error: `at most ${SESSIONS_MAX} sessions`,
  })
  .transform((sessions) => sessions && { sessions });

type Layer = Record<string, string | number | null>;

function merged(own: Layer | null | undefined, inherited: Layer): Sessions | undefined {
  const all = own === null ? {} : { ...inherited, ...own };
  const entries = Object.entries(all).flatMap(([name, id]) => (id === null ? [] : [[name, String(id)]]));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** The sessions in a step's payload; invalid ones are ignored. */
export function metaOf(payload: Record<string, unknown> | null | undefined): z.infer<typeof metaSchema> | undefined {
  const parsed = sentMetaSchema.nullish().safeParse(payload?.meta);
  return (parsed.success && parsed.data) || undefined;
}
