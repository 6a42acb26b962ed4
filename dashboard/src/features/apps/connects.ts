import type { App } from '../../api/types.ts';

/** Whether the app opens connections, so that it has no URL. */
export function connects({ url }: Pick<App, 'url'>): boolean {
  return url.startsWith('wss://connect');
}
