import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'

/** A source file with its imports: `from` as written, `to` as a path below the root for our own files. */
export interface Source {
  readonly path: string
  readonly text: string
  readonly imports: readonly { readonly from: string; readonly to: string | undefined }[]
}

const importing =
  /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g

export function readSources(root: string): Source[] {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.startsWith('client/dist/') && statSync(join(root, path)).isFile(),
  )
  return paths.map((path) => sourceOf(path, readFileSync(join(root, path), 'utf8')))
}

export function sourceOf(path: string, text: string): Source {
  const imports = [...text.matchAll(importing)].map((match) => {
    const from = match[1] ?? match[2] ?? match[3] ?? ''
    return { from, to: from.startsWith('.') ? relative('.', normalize(join(dirname(path), from))) : undefined }
  })
  return { path, text, imports }
}

/** Returns the room of a file: its first folder, or its name if it is next to the rooms. */
export const roomOf = (path: string): string =>
  path.includes('/') ? (path.split('/')[0] ?? '') : path.replace(/\.ts$/, '')

const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: ['core'],
  store: ['core'],
  jobs: ['core'],
  microsoft365: ['core'],
  simulator: [],
  cards: ['core'],
  bot: ['core', 'cards'],
  http: ['core'],
  client: ['core'],
}
/** The composition root and the process, which connect the rooms. */
const composition = new Set(['app', 'main', 'private-umask', 'settings-file'])
/** The files that all entry points may import, including the entry point of a room. They import nothing of the service. */
const ofEntries = ['private-umask.ts', 'settings-file.ts']

const vendorRooms: readonly { readonly vendor: RegExp; readonly rooms: readonly string[] }[] = [
  { vendor: /^(botbuilder|botframework)/, rooms: ['bot'] },
  { vendor: /^restify/, rooms: ['http'] },
  { vendor: /^@azure\/msal-node/, rooms: ['microsoft365', 'client'] },
  { vendor: /^@microsoft\/microsoft-graph-types/, rooms: ['microsoft365'] },
  { vendor: /^(adaptivecards|adaptive-expressions)/, rooms: ['cards'] },
  { vendor: /^intl-messageformat/, rooms: ['cards'] },
  { vendor: /^(pg$|@electric-sql)/, rooms: ['store'] },
  { vendor: /^pg-boss/, rooms: ['jobs'] },
  { vendor: /^jose/, rooms: ['http', 'bot', 'simulator'] },
  { vendor: /^standardwebhooks/, rooms: ['jobs', 'http', 'client'] },
  { vendor: /^pino/, rooms: ['app'] },
  { vendor: /^prom-client/, rooms: ['app'] },
  { vendor: /^(commander|@inquirer)/, rooms: ['client', 'app'] },
  { vendor: /^csv-parse/, rooms: ['client'] },
  { vendor: /^(@peculiar\/x509|reflect-metadata)/, rooms: ['app'] },
  { vendor: /^csv-stringify/, rooms: ['client', 'core'] },
  { vendor: /^fastest-levenshtein/, rooms: ['bot', 'core', 'client'] },
  { vendor: /^proxy-addr/, rooms: ['http'] },
  { vendor: /^zod/, rooms: ['*'] },
]
const largestFile = 350
const largestRoom = 25

/** The rooms of the core in order: each imports only rooms above it, through their index. */
export const coreRooms: readonly string[] = [
  'shared',
  'resources',
  'audit',
  'templates',
  'naming',
  'approvals',
  'requests',
  'drafts',
  'decisions',
  'provisioning',
  'webhooks',
  'batches',
  'explanations',
  'privacy',
  'operations',
  'notifications',
]
/** Layers with capabilities as rooms, and the rooms that only they have. */
const ownRooms: Readonly<Record<string, readonly string[]>> = {
  core: [],
  store: ['database'],
  jobs: ['queue'],
  cards: [],
  bot: ['channel'],
  routes: [],
}
/** Layers whose rooms have an order, with the rooms that each one may import. */
const insideLayer: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  core: Object.fromEntries(coreRooms.map((room, index) => [room, coreRooms.slice(0, index)])),
  microsoft365: { wire: [], directory: ['wire'], sites: ['wire'], mailboxes: ['wire', 'directory'] },
  simulator: {
    tenant: [],
    registrations: ['tenant'],
    login: ['tenant', 'registrations'],
    graph: ['tenant', 'registrations', 'login'],
    sharepoint: ['tenant', 'login'],
    exchange: ['tenant', 'login'],
    control: ['tenant', 'registrations', 'login', 'exchange'],
  },
}

/** Returns every violation of DESIGN §3 in the sources, one sentence each. */
export function faultsOf(sources: readonly Source[]): string[] {
  const loops = cycles(sources).map((cycle) => `import cycle: ${cycle.join(' → ')}`)
  return [...sources.flatMap(faultsOfFile), ...loops, ...faultsOfFolders(sources.map(({ path }) => path))]
}

/** Returns folders that are too large or not named after a capability. */
function faultsOfFolders(paths: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return [...counts].flatMap(([folder, count]) => {
    const [layer = '', room] = folder.replace(/^http\/routes/, 'routes').split('/')
    const own = ownRooms[layer]
    const isKnown = room === undefined || !own || [...coreRooms, ...own].includes(room)
    return [
      ...(count > largestRoom ? [`${folder} has ${count} files, ${largestRoom} at most`] : []),
      ...(isKnown ? [] : [`${folder} is no capability of the core`]),
    ]
  })
}

/** Returns the fault of an import that goes to a lower room of its layer, or bypasses the index of a room. */
function orderFault(path: string, to: string): string[] {
  const [[layer = '', room = '', ...file], [, target = '']] = [path.split('/'), to.split('/')]
  const allowed = insideLayer[layer]?.[room]
  if (file.length === 0 || !allowed || room === target) return []
  if (!allowed.includes(target)) return [`${path} imports ${to}; ${room} may not import ${target}`]
  return to.endsWith('/index.ts') ? [] : [`${path} imports ${to} past the index of ${target}`]
}

function faultsOfFile(source: Source): string[] {
  const { path, text, imports } = source
  const faults = imports.flatMap(({ from, to }) => (to === undefined ? vendorFault(path, from) : roomFault(path, to)))
  const lines = text.split('\n').length - 1
  if (lines > largestFile) faults.push(`${path} has ${lines} lines, ${largestFile} at most`)
  if (/(^|\/)utils?(\/|\.ts$)/.test(path)) faults.push(`${path}: nothing is called utils`)
  const isEntry =
    /(^main|^settings-file|^app\/commands\/(backup|restore|audit-verify|audit-key)|^app\/(setup|check)\/main|app\/local\/playground-process|simulator\/(main|token)|client\/cli)\.ts$/.test(
      path,
    )
  if (!isEntry && /\bprocess\.env\b/.test(text)) faults.push(`${path} reads process.env; only entries do`)
  if (!isEntry && /\bconsole\./.test(text)) faults.push(`${path} writes to the console; only entries do`)
  return faults
}

function roomFault(path: string, to: string): string[] {
  const [room, target] = [roomOf(path), roomOf(to)]
  if (ofEntries.includes(to)) return []
  if (room === target && !composition.has(room)) return orderFault(path, to)
  if (to.startsWith('..')) {
    const isCatalogue = to.startsWith('../cards/strings/') && room === 'cards'
    // Setup builds the app package like `npm run manifest`.
    const isManifest = to === '../manifest/build.ts' && path === 'app/setup/steps/teams-app.ts'
    return isCatalogue || isManifest ? [] : [`${path} imports ${to}, outside the sources`]
  }
  if (composition.has(room)) return []
  const allowed = mayImport[room]
  if (!allowed) return [`${path} is in a room that the design does not know`]
  if (!allowed.includes(target))
    return [`${path} imports ${to}; ${room} may import ${allowed.join(' and ') || 'no other room'}`]
  return to === `${target}/index.ts` ? [] : [`${path} imports ${to} past the door ${target}/index.ts`]
}

function vendorFault(path: string, from: string): string[] {
  if (from.startsWith('node:')) return []
  const rule = vendorRooms.find(({ vendor }) => vendor.test(from))
  if (!rule) return [`${path} imports ${from}, which has no room yet`]
  return rule.rooms.includes('*') || rule.rooms.includes(roomOf(path))
    ? []
    : [`${path} imports ${from}, which belongs to ${rule.rooms.join(', ')}`]
}

/** Returns cycles of imports, including imports of types. */
function cycles(sources: readonly Source[]): string[][] {
  const next = new Map(sources.map((source) => [source.path, source.imports.flatMap(({ to }) => to ?? [])]))
  const done = new Set<string>()
  const found: string[][] = []
  const walk = (path: string, trail: string[]): void => {
    if (trail.includes(path)) return void found.push([...trail.slice(trail.indexOf(path)), path])
    if (done.has(path)) return
    for (const to of next.get(path) ?? []) walk(to, [...trail, path])
    done.add(path)
  }
  for (const path of next.keys()) walk(path, [])
  return found
}

export function valueImports({ path, text }: Source): string[] {
  const values = [...text.matchAll(/(?:^|\n)\s*(?:import|export)\s(?!type\b)([^'"]*?)from\s*['"](\.[^'"]+)['"]/g)]
  const remaining = values.filter(([, names = '']) => !/^\{(\s*type\s[^,}]*,?)*\s*\}\s*$/.test(names.trim()))
  return remaining.map(([, , from = '']) => normalize(join(dirname(path), from)))
}
