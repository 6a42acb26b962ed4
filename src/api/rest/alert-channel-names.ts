/** Names of alert channels in requests. */
import { invalidField } from '../../errors.ts';
import { describe } from '../../model/values/json.ts';
import type { AlertChannels } from '../../store/alerts/alert-channels.ts';

/** @throws ServiceError input_invalid when the environment has no such channel */
export async function checkChannels(
  channels: Pick<AlertChannels, 'all'>,
  env: string,
  field: string,
  names: readonly string[],
): Promise<void> {
  const known = new Set((await channels.all(env)).map(({ name }) => name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw invalidField(field, `got ${describe(unknown)}; expected names of alert channels of the environment`);
}
