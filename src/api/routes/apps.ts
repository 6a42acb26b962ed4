/** `/v1/apps`: telling the service of an app. */
import { z } from 'zod';
import { askToRegister } from '../../functions/introduction.ts';
import { type Route, route } from '../route.ts';

export function appRoutes(): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/apps',
      tag: 'Apps',
      access: 'write',
      about: 'environment',
      summary: 'Have an app register its functions',
      description: 'Sends PUT to the URL, on which the app registers itself with the service.',
      body: z.object({ url: z.url({ protocol: /^https?$/ }) }),
      data: z.object({ url: z.url() }),
      errors: ['app_unreachable'],
      async handle({ body: { url } }) {
        await askToRegister(url);
        return { data: { url } };
      },
    }),
  ];
}
