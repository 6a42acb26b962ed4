import type { PresetInput } from '../preset.ts';

export default {
  id: 'vercel',
  name: 'Vercel',
  docs: 'https://vercel.com/docs/webhooks/webhooks-api',
  verification: { scheme: 'hmac', algorithm: 'sha1', signature: { at: 'header:x-vercel-signature' } },
  secret: {
    label: 'Secret',
    where: 'Shown once, when the webhook has been created. For webhooks of an integration: its client secret',
  },
  eventName: 'vercel/{body:type}',
  eventId: 'body:id',
  setup: [
    'Open the settings of the team → Webhooks → Create Webhook.',
    'Choose the events and the projects.',
    'Endpoint URL: {url}',
    'Copy the secret, which Vercel shows only once, and paste it here.',
  ],
  transform: { name: '"vercel/" + evt.type', ts: 'evt.createdAt', data: 'evt.payload' },
  sample: {
    headers: { 'X-Vercel-Signature': '0c1b9b3f6f0a5d2e8c7b4a1f9e6d3c0b8a5f2e7d' },
    body: {
      id: 'uev_8hJkL2mNpQrStUvW',
      type: 'deployment.succeeded',
      createdAt: 1_768_383_012_418,
      region: 'fra1',
      payload: {
        team: { id: 'team_4bX9cQ7mT1vR' },
        user: { id: 'user_2nY6dW8kS3zP' },
        project: { id: 'prj_7gH5jL0fB4xE' },
        deployment: {
          id: 'dpl_9tM3rV6wC1qN',
          name: 'harbour',
          url: 'harbour-6tq0d2k1a.vercel.app',
          meta: { githubCommitRef: 'main', githubCommitSha: '9049f1265b7d61be4a8904a9a27120d2064dab3b' },
        },
        target: 'production',
        plan: 'pro',
        regions: ['fra1'],
      },
    },
    eventName: 'vercel/deployment.succeeded',
  },
} satisfies PresetInput;
