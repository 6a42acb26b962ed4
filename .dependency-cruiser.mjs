/** The import rules: which file may import what. `node scripts/check-imports.ts` checks them.
 *  The fields of a rule: https://github.com/sverweij/dependency-cruiser/blob/main/doc/rules-reference.md */

/** The rooms of src/ from top to bottom: folders, and files directly in src/. Rooms of one line do not import each other. */
const LAYERS = [
  ['supervisor.ts', 'web.ts', 'worker.ts', 'release.ts', 'move.ts'],
  ['process.ts'],
  ['composition'],
  ['supervision'],
  ['api', 'workers'],
  ['jobs'],
  ['history'],
  ['archive'],
  ['duties'],
  ['store', 'functions', 'transforms'],
  ['metrics'],
  ['providers'],
  ['model'],
  ['tracing'],
  ['config.ts', 'errors.ts', 'graceful-shutdown.ts', 'log.ts', 'node-http.ts', 'version.ts'],
  ['settings'],
  ['origin-patterns.ts'],
];

/** The rooms of src/api/: routes stand on what the API shows and on what apps and senders may do, and all on HTTP. */
const API_LAYERS = [
  ['app.ts'],
  ['rest-api.ts'],
  ['mcp'],
  ['official', 'features'],
  ['routes'],
  ['openapi', 'parts.ts'],
  ['realtime', 'rest'],
  ['connect', 'views'],
  ['apps', 'reconciliation', 'replays'],
  ['receive', 'operations'],
  ['auth', 'dashboard.ts'],
  ['http'],
];

/** The rooms of src/jobs/: what is triggered stands on runs, runs on flow control, and all on the queues. */
const JOB_LAYERS = [
  ['alerts', 'environments', 'ingestion', 'outbox', 'replays', 'timers', 'webhooks', 'what-if'],
  ['bulk'],
  ['matching', 'runs'],
  ['archive', 'connect', 'flow-control'],
  ['acceptance'],
  ['dev-clock', 'functions', 'telemetry'],
  ['queues'],
];

/** The rooms of src/store/: what is stored stands on the keys, and on the connection. */
const STORE_LAYERS = [
  ['move'],
  ['store.ts'],
  ['auth', 'bulk', 'telemetry'],
  ['alerts', 'apps', 'connect', 'environments', 'errors', 'realtime', 'webhooks'],
  ['runs'],
  ['events'],
  ['flow-control'],
  ['store-context.ts'],
  ['redis'],
  ['keys'],
];

/** Packages that only the named rooms import. */
const PACKAGE_HOMES = [
  ['koa', 'koa|koa-[^/]+|@koa/[^/]+|@bull-board/[^/]+', ['api']],
  ['websockets', 'ws', ['api']],
  ['protobuf', '@bufbuild/[^/]+', ['functions']],
  ['bullmq', 'bullmq', ['jobs', 'workers']],
  ['diff', 'diff', ['api']],
  ['isolates', 'isolated-vm', ['transforms']],
  ['threads', 'piscina', ['api', 'transforms']],
  ['tokens', 'jose', ['api', 'providers']],
  ['sign-on', 'openid-client', ['api']],
  ['redis', 'ioredis', ['store']],
  ['postgres', 'pg|pg-copy-streams|node-pg-migrate', ['archive']],
  ['opentelemetry', '@opentelemetry/[^/]+|bullmq-otel', ['tracing']],
  ['cron', 'cron-parser', ['model']],
  ['mail', 'nodemailer', ['jobs']],
  ['prometheus', 'prom-client', ['metrics']],
];

const DASHBOARD_LAYERS = [['main.tsx'], ['app'], ['pages'], ['features'], ['ui'], ['api'], ['lib']];

/** The files of src/ whose code, not only whose types, the dashboard's bundle contains. */
const IN_THE_DASHBOARD = [
  'src/model/runs/run-status.ts',
  'src/model/errors/stack.ts',
  'src/model/runs/excluded-functions.ts',
];

/** What the dashboard shows in the words of the command line. */
const WORDS_OF_THE_CLI = 'cli/src/what-if/words.ts';

/** What each folder beside src/ imports apart from itself and packages. */
const OUTSIDE_SRC = {
  'clients/typescript/src': [],
  cli: ['clients/typescript/src'],
  'examples/typescript': ['clients/typescript/src'],
  scripts: [
    'src/composition/inventory.ts',
    'src/duties/duty.ts',
    'src/model/alerts/rules.ts',
    'src/providers/catalog.ts',
    'src/providers/preset.ts',
    'src/settings',
    'src/store/redis/keyspace/keyspace.ts',
    'src/store/keys/key-declaration.ts',
  ],
  bench: ['clients/typescript/src', 'package.json', 'scripts/lib', 'src'],
  chaos: ['clients/typescript/src', 'scripts/lib', 'src', 'test/support'],
  fuzz: ['bench/statistics.ts', 'scripts/lib', 'src', 'test/support'],
};

const escaped = (path) => path.replaceAll('.', '\\.');
const either = (paths) => `(${paths.map(escaped).join('|')})`;
/** The files of rooms; the room's name is the first group. */
const inRooms = (root, rooms) => `^${root}/${either(rooms)}(/|$)`;
/** The files of packages, or of their types, or their bare names where they are not installed. */
const inPackages = (pattern) => `(^|node_modules/(@types/)?)(${pattern})(/|$)`;
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

function layerRules(root, layers) {
  const elsewhere = { path: `^${root}/`, pathNot: inRooms(root, layers.flat()) };
  const noLayer = `Each room of ${root}/ has a layer in .dependency-cruiser.mjs.`;
  const rules = [
    forbid(`${root}:each-room-has-a-layer`, noLayer, elsewhere, {}),
    forbid(`${root}:each-imported-room-has-a-layer`, noLayer, { path: `^${root}/` }, elsewhere),
  ];
  for (const [i, rooms] of layers.entries()) {
    const above = layers.slice(0, i).flat();
    const here = { path: inRooms(root, rooms) };
    const down = `Imports go down only, and ${above.join(', ')} are above ${rooms.join(', ')}.`;
    const apart = `${rooms.join(', ')} are on one layer and do not import each other.`;
    if (above.length > 0)
      rules.push(forbid(`${root}:${rooms}-import-down-only`, down, here, { path: inRooms(root, above) }));
    rules.push(forbid(`${root}:${rooms}-stay-apart`, apart, here, { ...here, pathNot: `^${root}/$1(/|$)` }));
  }
  return rules;
}

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    forbid(
      'no-circles',
      'Files do not import each other in circles; a circle of types is one too.',
      {},
      { circular: true },
    ),
    forbid('resolvable', 'Every import leads to a file or to an installed package.', {}, { couldNotResolve: true }),
    ...layerRules('src', LAYERS),
    ...layerRules('src/api', API_LAYERS),
    ...layerRules('src/jobs', JOB_LAYERS),
    ...layerRules('src/store', STORE_LAYERS),
    ...PACKAGE_HOMES.map(([name, packages, homes]) =>
      forbid(
        `${name}-at-home`,
        `Only ${homes.map((home) => `src/${home}`).join(' and ')} import this package.`,
        { path: '^src/', pathNot: inRooms('src', homes) },
        { path: inPackages(packages) },
      ),
    ),
    forbid(
      'no-koa-in-workers',
      'A worker starts without Koa in its module graph.',
      { path: '^src/worker\\.ts$' },
      { path: inPackages('koa'), reachable: true },
    ),
    forbid(
      'no-development-packages',
      'What production runs is among the dependencies of package.json.',
      { path: '^(src|clients/typescript/src|cli/src)/' },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'src-stands-alone',
      'src/ imports nothing beside itself.',
      { path: '^src/' },
      { dependencyTypes: ['local'], pathNot: '^(src/|package\\.json$)' },
    ),
    ...layerRules('dashboard/src', DASHBOARD_LAYERS),
    ...['pages', 'features'].map((room) =>
      forbid(
        `dashboard-${room}-stay-apart`,
        `The folders of ${room}/ do not import each other; what they share goes to a room below.`,
        { path: `^dashboard/src/${room}/([^/]+)/` },
        { path: `^dashboard/src/${room}/`, pathNot: `^dashboard/src/${room}/$1/` },
      ),
    ),
    forbid(
      'dashboard-takes-types',
      `The dashboard imports types from src/, and code only from ${IN_THE_DASHBOARD.join(', ')}.`,
      { path: '^dashboard/' },
      { path: '^src/', pathNot: `^${either(IN_THE_DASHBOARD)}$`, dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'dashboard-stands-alone',
      `The dashboard imports itself, src/ and ${WORDS_OF_THE_CLI}.`,
      { path: '^dashboard/src/' },
      { dependencyTypes: ['local'], pathNot: `^(dashboard/src/|src/|${escaped(WORDS_OF_THE_CLI)}$|package\\.json$)` },
    ),
    ...Object.entries(OUTSIDE_SRC).map(([folder, others]) =>
      forbid(
        `${folder}-imports`,
        `${folder} imports ${['itself', ...others].join(', ')}.`,
        { path: `^${folder}/` },
        { dependencyTypes: ['local'], pathNot: `^${either([folder, ...others])}(/|$)` },
      ),
    ),
  ],
  options: {
    // TypeScript 7 has no JavaScript API yet. This parser finds imports of types too.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^dashboard/dist', '^test/transforms/attacks/'] },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
