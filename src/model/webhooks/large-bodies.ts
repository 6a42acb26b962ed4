/** Bodies of webhook requests that are larger than events may be (docs/webhooks.md#large-bodies): the setting of a
 *  webhook, and the part of a body that its transform gets. */
import { isJsonObject } from '../values/json.ts';

/** GitHub's limit, the largest of the providers with a preset. */
export const LARGE_BODY_MAX_BYTES = 25 * 1_048_576;
export const LARGE_BODY_MAX_FIELDS = 50;

/** Memory of a process for large bodies. One webhook gets half of it at most. Each request that waits for it keeps a connection open. */
export const LARGE_BODY_MEMORY = { bytes: 128 * 1_048_576, bytesOfGroup: 64 * 1_048_576, waitingOfGroup: 32 };

export interface LargeBodySetting {
  maxBytes: number;
  /** Paths with dots; `*` stands for every item of a list. */
  fields: readonly string[];
}

/** The transform gets this instead of the raw body. */
export interface BodyReference {
  bytes: number;
  /** Hex. */
  sha256: string;
  /** `GET` with an API key returns the body. */
  url: string;
}

interface PathTree {
  /** Everything from here on is taken. */
  isWhole: boolean;
  below: Map<string, PathTree>;
}

/** The value with only the fields at these paths, at the places where they were. */
export function pickFields(value: unknown, paths: readonly string[]): unknown {
  const root: PathTree = { isWhole: false, below: new Map() };
  for (const path of paths) {
    let tree = root;
    for (const name of path.split('.')) {
      const next = tree.below.get(name) ?? { isWhole: false, below: new Map() };
      tree.below.set(name, next);
      tree = next;
    }
    tree.isWhole = true;
  }
  return picked(value, root) ?? {};
}

function picked(value: unknown, { isWhole, below }: PathTree): unknown {
  if (isWhole) return value;
  if (Array.isArray(value)) {
    const item = below.get('*');
    return item && value.map((element) => picked(element, item) ?? null);
  }
  if (!isJsonObject(value)) return undefined;
  const fields = [...below].map(([name, tree]) => [
    name,
    Object.hasOwn(value, name) ? picked(value[name], tree) : undefined,
  ]);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}
