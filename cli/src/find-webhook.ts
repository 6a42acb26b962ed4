/** Finds a webhook by its ID or its name. */
import type { ApiClient, Json } from './api-client.ts';
import { CliError, EXIT, usageError } from './exit-codes.ts';

/** A ULID. A name of this form is found by the ID of its webhook alone. */
const ID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** @returns an ID unchanged, without a request */
export async function idOfWebhook(api: ApiClient, idOrName: string): Promise<string> {
  return ID.test(idOrName) ? idOrName : (await findWebhook(api, idOrName)).id;
}

export async function findWebhook(api: ApiClient, idOrName: string): Promise<Json> {
  const all: Json[] = await api.all('/v1/webhooks');
  const byId = all.find(({ id }) => id === idOrName);
  if (byId) return byId;
  const [found, ...others] = all.filter(({ name }) => name === idOrName);
  if (!found) {
    const names = all.map(({ name }) => JSON.stringify(name)).join(', ');
    const message = `There is no webhook with the ID or name ${JSON.stringify(idOrName)}`;
    throw new CliError(message, { exitCode: EXIT.notFound, hint: names ? `There are ${names}` : 'There are none' });
  }
  if (others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id).join(', ');
    throw usageError(
      `${1 + others.length} webhooks have the name ${JSON.stringify(idOrName)}`,
      `Give one by its ID: ${ids}`,
    );
  }
  return found;
}
