import type { PresetInput } from '../preset.ts';

export default {
  id: 'github',
  name: 'GitHub',
  docs: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  verification: { scheme: 'hmac', signature: { at: 'header:x-hub-signature-256', prefix: 'sha256=' } },
  secret: {
    label: 'Secret',
    where: 'You choose it: the field Secret of the webhook, or of the GitHub App',
  },
  eventName: 'github/{header:x-github-event}.{body:action}',
  deliveryId: 'header:x-github-delivery',
  sent: {
    docs: 'https://docs.github.com/en/rest/repos/webhooks#list-deliveries-for-a-repository-webhook',
    api: 'https://api.github.com',
    key: {
      label: 'Token',
      where:
        'Settings → Developer settings → Fine-grained tokens, with read access to Webhooks of the repository or organization (write access to ask for redeliveries). Of a GitHub App: its private key',
    },
    headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
    account: [
      {
        name: 'repository',
        label: 'Repository',
        description: 'Of a repository webhook, with its owner: octo-org/harbour',
        pattern: '[\\w.-]{1,100}/[\\w.-]{1,100}',
      },
      {
        name: 'organization',
        label: 'Organization',
        description: 'Of an organization webhook',
        pattern: '[\\w-]{1,100}',
      },
      {
        name: 'hook',
        label: 'Hook ID',
        description: 'Of a repository or organization webhook: the number at the end of the URL of its settings',
        pattern: '\\d{1,15}',
      },
      {
        name: 'app',
        label: 'App ID',
        description: 'ID or client ID of the GitHub App, for its own webhook',
        pattern: '[\\w.]{1,40}',
      },
    ],
    sources: [
      {
        list: '/repos/{repository}/hooks/{hook}/deliveries',
        item: '/repos/{repository}/hooks/{hook}/deliveries/{ref}',
        redeliver: '/repos/{repository}/hooks/{hook}/deliveries/{ref}/attempts',
      },
      {
        list: '/orgs/{organization}/hooks/{hook}/deliveries',
        item: '/orgs/{organization}/hooks/{hook}/deliveries/{ref}',
        redeliver: '/orgs/{organization}/hooks/{hook}/deliveries/{ref}/attempts',
      },
      {
        auth: 'github-app',
        list: '/app/hook/deliveries',
        item: '/app/hook/deliveries/{ref}',
        redeliver: '/app/hook/deliveries/{ref}/attempts',
      },
    ],
    query: { per_page: '100' },
    pages: { by: 'link-header', parameter: 'cursor' },
    items: '',
    id: 'guid',
    ref: 'id',
    time: { at: 'delivered_at', unit: 'iso' },
    idPattern: '[0-9a-f-]{36}',
    request: { headersAt: 'request.headers', body: 'request.payload', formField: 'payload' },
    rateLimit: { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset' },
    keptDays: 3,
    note: 'The payload is parsed and serialized again, so it is not the same byte for byte.',
  },
  order: {
    key: 'request.body.pull_request != null ? request.body.pull_request.node_id : request.body.issue.node_id',
    by: 'request.body.pull_request != null ? request.body.pull_request.updated_at : request.body.issue.updated_at',
    docs: 'https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/troubleshooting-webhooks',
  },
  setup: [
    'Open the settings of the repository or organization → Webhooks → Add webhook.',
    'Payload URL: {url}',
    'Content type: application/json',
    'Secret: a long random text. Paste the same one here.',
    'Choose the events. GitHub sends the event ping at once.',
  ],
  transform: `function transform(evt, headers) {
  const kind = headers["X-Github-Event"];
  return {
    name: "github/" + (evt.action ? kind + "." + evt.action : kind),
    data: evt,
  };
}
`,
  sample: {
    headers: {
      'User-Agent': 'GitHub-Hookshot/044aadd',
      'X-GitHub-Event': 'pull_request',
      'X-GitHub-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'X-GitHub-Hook-ID': '292430182',
      'X-Hub-Signature-256': 'sha256=d57c68ca6f92289e6987922ff26938930f6e66a2d161ef06abdf1859230aa23c',
    },
    body: {
      action: 'opened',
      number: 347,
      pull_request: {
        id: 1_934_508_217,
        node_id: 'PR_kwDOCyM0ms5zTYG5',
        html_url: 'https://github.com/octo-org/harbour/pull/347',
        title: 'Keep the tide table in one place',
        state: 'open',
        draft: false,
        user: { login: 'octocat', id: 583_231, type: 'User' },
        head: { ref: 'tide-table', sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e' },
        base: { ref: 'main', sha: '9049f1265b7d61be4a8904a9a27120d2064dab3b' },
        created_at: '2026-01-14T09:30:12Z',
        updated_at: '2026-01-14T09:30:12Z',
      },
      repository: {
        id: 186_853_002,
        full_name: 'octo-org/harbour',
        private: true,
        default_branch: 'main',
        owner: { login: 'octo-org', id: 38_302_899 },
      },
      sender: { login: 'octocat', id: 583_231, type: 'User' },
    },
    eventName: 'github/pull_request.opened',
  },
} satisfies PresetInput;
