import { jsonSample, type Template } from './template.ts';

export const github: Template = {
  id: 'github',
  label: 'GitHub',
  hint: 'Creates events such as github/push and github/issues.opened. In GitHub, select the content type application/json.',
  transform: `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const kind = headers["X-Github-Event"];
  return {
    // GitHub may deliver twice; the same ID counts once.
    id: "github-" + headers["X-Github-Delivery"],
    name: "github/" + (evt.action ? kind + "." + evt.action : kind),
    data: evt,
  };
}
`,
  sample: jsonSample(
    {
      action: 'opened',
      number: 347,
      pull_request: {
        id: 1_934_508_217,
        html_url: 'https://github.com/octo-org/harbour/pull/347',
        title: 'Keep the tide table in one place',
        state: 'open',
        draft: false,
        user: { login: 'octocat', id: 583_231, type: 'User' },
        head: { ref: 'tide-table', sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e' },
        base: { ref: 'main', sha: '9049f1265b7d61be4a8904a9a27120d2064dab3b' },
        created_at: '2026-01-14T09:30:12Z',
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
    {
      'User-Agent': 'GitHub-Hookshot/044aadd',
      'X-Github-Event': 'pull_request',
      'X-Github-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'X-Github-Hook-Id': '292430182',
      'X-Hub-Signature-256': 'sha256=d57c68ca6f92289e6987922ff26938930f6e66a2d161ef06abdf1859230aa23c',
    },
  ),
};
