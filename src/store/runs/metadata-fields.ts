/** Metadata of a run as hash fields. For each kind of each target, one field has the time of its last change; fields that begin with that
 *  name and a line break have the values, as JSON. */
import {
  METADATA_MAX_BYTES,
  METADATA_MAX_VALUES,
  type Metadata,
  type MetadataTarget,
  type MetadataUpdate,
} from '../../model/runs/metadata.ts';
import { parseStored } from '../../model/values/json.ts';

/** Occurs neither in JSON nor in kinds. */
const SEPARATOR = '\n';

type StoredTarget = [
  scope: MetadataTarget['scope'],
  stepId: string | null,
  attempt: number | null,
  spanId: string | null,
];

/** A change to the metadata of one kind for one target. */
export interface MetadataChange {
  /** Field that names the kind. */
  field: string;
  op: MetadataUpdate['op'];
  /** Names and JSON texts. */
  values: [name: string, json: string][];
  nowMs: number;
}

export function metadataChange(
  target: MetadataTarget,
  { kind, op, values }: MetadataUpdate,
  nowMs: number,
): MetadataChange {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const texts = given.map(([name, value]): [string, string] => [name, JSON.stringify(value)]);
  return { field: fieldOf(target) + SEPARATOR + kind, op, values: texts, nowMs };
}

/** Does what set-metadata.lua does in Redis.
 *  @returns the fields after the change; 'full' if they would be too many or too large */
export function changeMetadata(
  stored: Readonly<Record<string, string>>,
  { field: kind, op, values, nowMs }: MetadataChange,
): Record<string, string> | 'full' {
  const ofKind = kind + SEPARATOR;
  const kept = Object.entries(stored).filter(([field]) => !(op === 'set' && field.startsWith(ofKind)));
  const fields = new Map(kept);
  fields.set(kind, String(nowMs));
  for (const [name, json] of values) fields.set(ofKind + name, json);
  let bytes = 0;
  for (const [field, text] of fields) bytes += Buffer.byteLength(field) + Buffer.byteLength(text);
  if (fields.size > METADATA_MAX_VALUES || bytes > METADATA_MAX_BYTES) return 'full';
  return Object.fromEntries(fields);
}

export function toMetadata(fields: Readonly<Record<string, string>>): Metadata[] {
  const found = new Map<string, Metadata>();
  for (const [field, text] of Object.entries(fields)) {
    const [target = '', kind = '', ...rest] = field.split(SEPARATOR);
    const entry = found.get(target + SEPARATOR + kind) ?? { ...targetFrom(target), kind, values: {}, updatedAt: 0 };
    found.set(target + SEPARATOR + kind, entry);
    if (rest.length === 0) entry.updatedAt = Number(text);
    else entry.values[rest.join(SEPARATOR)] = parseStored(text);
  }
  return [...found.values()].sort((a, b) => a.updatedAt - b.updatedAt || a.kind.localeCompare(b.kind));
}

function fieldOf({ scope, stepId, attempt, spanId }: MetadataTarget): string {
  return JSON.stringify([scope, stepId ?? null, attempt ?? null, spanId ?? null] satisfies StoredTarget);
}

function targetFrom(text: string): MetadataTarget {
  const [scope, stepId, attempt, spanId] = JSON.parse(text) as StoredTarget;
  return { scope, stepId: stepId ?? undefined, attempt: attempt ?? undefined, spanId: spanId ?? undefined };
}
