import type { PresetInput } from '../preset.ts';
import svix from './svix.ts';

export default {
  id: 'clerk',
  name: 'Clerk',
  docs: 'https://clerk.com/docs/webhooks/overview',
  verification: svix.verification,
  secret: {
    label: 'Signing secret',
    where: 'Configure → Webhooks → your endpoint → Signing Secret',
    example: 'whsec_…',
    pattern: svix.secret.pattern,
  },
  eventName: 'clerk/{body:type}',
  deliveryId: svix.deliveryId,
  setup: [
    'Open Configure → Webhooks → Add Endpoint.',
    'Endpoint URL: {url}',
    'Subscribe to the events.',
    'Copy the signing secret (whsec_…), and paste it here.',
  ],
  transform: { name: '"clerk/" + evt.type', ts: 'evt.timestamp', data: 'evt.data' },
  sample: {
    headers: svix.sample.headers,
    body: {
      object: 'event',
      type: 'user.created',
      timestamp: 1_768_383_012_418,
      instance_id: 'ins_2g7np7Hrk0SN6kj5EDMLDaKNL0S',
      data: {
        object: 'user',
        id: 'user_2g7np7Hrk0SN6kj5EDMLDaKNL0S',
        first_name: 'Ada',
        last_name: 'Byron',
        username: null,
        primary_email_address_id: 'idn_2g7np7Hrk0SN6kj5EDMLDaKNL0S',
        email_addresses: [
          {
            object: 'email_address',
            id: 'idn_2g7np7Hrk0SN6kj5EDMLDaKNL0S',
            email_address: 'ada@example.com',
            verification: { status: 'verified', strategy: 'email_code' },
          },
        ],
        created_at: 1_768_383_012_201,
        updated_at: 1_768_383_012_201,
      },
    },
    eventName: 'clerk/user.created',
  },
} satisfies PresetInput;
