import { setTimeout as sleep } from 'node:timers/promises'
import { rootOf } from '../../client/call.ts'
import { promptsOf } from '../../client/command-line/questions.ts'
import { fill, type Streams, type Terminal } from '../../client/command-line/terminal.ts'
import { type CloudName, cloudFault, clouds, isLoopbackUrl } from '../addresses.ts'
import { type Administrator, type Organisation, readOrganisation, signInAdministrator } from './administrator.ts'
import type { Options } from './command-line.ts'
import { showEnd } from './ending.ts'
import { createGraph, GraphError, isLong, nextWait, TooEarly } from './graph.ts'
import { type About, SetupProblem } from './problem.ts'
import { answerQuestions, openQuestions, type PresetAnswer, presetAnswers, type Question } from './questions.ts'
import { type AnyRole, isAllowed, named, readRoles } from './roles.ts'
import { openSettings, type SettingsFile } from './settings-file.ts'
import { type GroupName, groups, namesOf, type Setup, type Step, type Work } from './step.ts'
import { steps as allSteps } from './steps/index.ts'
import texts from './strings.json' with { type: 'json' }

export interface SetupEnvironment {
  readonly args: readonly string[]
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly streams: Streams
  readonly signal: AbortSignal
  readonly fetch: typeof fetch
  /** How long to wait for changes that Microsoft does not show yet. Milliseconds; default three minutes. */
  readonly patience?: number
  readonly now?: () => Date
  /** Default: all. Tests watch them. */
  readonly steps?: readonly Step[]
}

/** Thrown if the administrator declined a group of changes, or nobody could answer. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** The current work, for the explanation of an error. */
export interface Progress {
  about: About | undefined
}

/** Runs setup: sign-in, questions, plan, changes by group, and the remaining manual steps. */
export async function setUp(
  environment: SetupEnvironment,
  options: Options,
  terminal: Terminal,
  progress: Progress,
): Promise<void> {
  const settings = await openSettings(options.envFile, options.instance)
  const places = placesOf(environment, options, settings)
  const about: About = {
    what: texts.run.reads,
    person: '',
    roles: [],
    hasRole: false,
    scope: '',
    consented: undefined,
    ...places,
  }
  progress.about = about
  const administrator = await signInAdministrator({
    ...places,
    ...{ tenant: options.tenant ?? settings.get('TENANT_ID') ?? 'organizations' },
    ...{ clientId: options.clientId, catalogue: options.catalogue, terminal },
    ...{ signal: environment.signal, fetch: environment.fetch },
  })
  const remarks: string[] = []
  const parts = { environment, options, terminal, settings, places, administrator, remarks }
  const { setup, organisation } = await connect(parts)
  const track = (what: string, step?: Step) => {
    const { roles = [], scope = '' } = step ?? {}
    const { displayName: person } = administrator.person
    const hasRole = setup.roles !== undefined && isAllowed(setup.roles, roles)
    progress.about = { ...about, what, person, roles, hasRole, scope, consented: administrator.consented() }
  }
  track(texts.run.reads)
  const preset = presetAnswers({ answers: options.answers, settings, variables: environment.variables })
  const questions = openQuestions(settings, preset)
  let isNew = false
  if (!options.plan) isNew = await ask({ environment, terminal, setup, organisation, preset })
  terminal.line(terminal.style('dim', texts.run.reading))
  const { steps = allSteps } = environment
  const all = await compareAll(steps, setup, track)
  if (options.plan) {
    showPlan(terminal, all, questions)
    for (const line of lackingLines(setup, all, texts.run.planLacking)) terminal.line(line)
    terminal.line(`\n${texts.run.planEnd}`)
    return
  }
  const lacking = lackingLines(setup, all, texts.run.lackingRoles)
  if (lacking.length > 0) setup.note([...lacking, texts.run.lackingHint].join('\n  '))
  const open = groups.filter((group) => all.some(({ step }) => step.group === group))
  for (const [index, group] of open.entries()) {
    const title = fill(texts.run.group, { number: index + 1, count: open.length, title: texts.groups[group] })
    await completeGroup({ environment, options, terminal, setup, group, title, track, remarks })
  }
  if (open.length === 0 && !isNew) terminal.line(`${terminal.style('green', '✓')} ${texts.run.nothing}`)
  track(texts.run.reads)
  await showEnd(setup, terminal, { isChanged: open.length > 0 || isNew, botSteps: options.botSteps })
}

interface Places {
  readonly cloud: CloudName
  readonly loginUrl: string
  readonly directoryUrl: string
  readonly graphResource: string
}

/** Returns the addresses of the tenant: from the environment, the settings, or Microsoft's defaults. */
function placesOf({ variables }: SetupEnvironment, options: Options, settings: SettingsFile): Places {
  const from = (name: string) => variables[name] || settings.get(name)
  const cloud = options.cloud ?? from('CLOUD') ?? 'public'
  const fault = cloudFault(cloud)
  if (fault !== undefined) throw new SetupProblem(`CLOUD ${fault}`, texts.usage.help)
  const known = clouds[cloud as CloudName]
  const address = (name: string, otherwise: string) => {
    try {
      return rootOf(name, from(name) ?? otherwise)
    } catch {
      throw new SetupProblem(fill(texts.usage.address, { name }), texts.usage.help)
    }
  }
  const directoryUrl = address('DIRECTORY_URL', known.directoryUrl)
  return {
    cloud: cloud as CloudName,
    loginUrl: address('LOGIN_URL', known.loginUrl),
    directoryUrl,
    // The tokens of a simulated tenant on this computer name Microsoft's services.
    graphResource: isLoopbackUrl(directoryUrl) ? known.directoryUrl : directoryUrl,
  }
}

interface Connecting {
  readonly environment: SetupEnvironment
  readonly options: Options
  readonly terminal: Terminal
  readonly settings: SettingsFile
  readonly places: Places
  readonly administrator: Administrator
  readonly remarks: string[]
}

/** Reads the signed-in person and the organisation, and creates the context of the steps. */
async function connect(parts: Connecting) {
  const { environment, options, terminal, settings, places, administrator, remarks } = parts
  const { signal, fetch, patience = 180_000, now = () => new Date() } = environment
  const { person } = administrator
  const note = (text: string) => terminal.line(`  ${terminal.style('yellow', '!')} ${text}`)
  const pause = (milliseconds: number) => sleep(milliseconds, undefined, { signal })
  const onWait = () => terminal.line(terminal.style('dim', `  ${texts.run.waiting}`))
  const graph = createGraph({ url: places.directoryUrl, token: administrator.token, fetch, pause, patience, onWait })
  const organisation = await readOrganisation(graph)
  const { displayName: name, userPrincipalName: account } = person
  const expected = settings.get('TENANT_ID')
  if (expected !== undefined && expected.toLowerCase() !== organisation.id.toLowerCase()) {
    const shown = { path: settings.path, expected, name, found: organisation.id }
    throw new SetupProblem(fill(texts.signIn.otherTenant, shown), texts.signIn.otherTenantHint)
  }
  terminal.line(fill(texts.signIn.done, { name, account, organisation: organisation.displayName }))
  const setup: Setup = {
    ...{ graph, settings, names: namesOf(options.instance), tenantId: organisation.id, fetch, note, pause },
    remark: (text) => void remarks.push(text),
    ...{ cloud: places.cloud, loginUrl: places.loginUrl, graphResource: places.graphResource },
    person: { id: person.id, displayName: name },
    roles: await readRoles(graph),
    options: {
      ...{ catalogue: options.catalogue, patience, now },
      ...{ secretDays: options.secretDays, certificateDays: options.certificateDays },
    },
  }
  return { setup, organisation }
}

interface Asking {
  readonly environment: SetupEnvironment
  readonly terminal: Terminal
  readonly setup: Setup
  readonly organisation: Organisation
  preset(question: Question): PresetAnswer | undefined
}

async function ask({ environment, terminal, setup, organisation, preset }: Asking): Promise<boolean> {
  const { settings, tenantId, cloud, fetch, note } = setup
  const facts = { tenantId, initialDomain: organisation.initialDomain, cloud, fetch, note }
  const prompts = promptsOf({ terminal, signal: environment.signal })
  return answerQuestions({
    ...{ settings, facts, preset },
    ...(terminal.isInteractive && {
      ask: (question, proposal) =>
        prompts.text(`${question.text}:`, proposal ?? '', (typed) => question.check(typed, facts), question.shownAs),
    }),
  })
}

type Track = (what: string, step?: Step) => void
interface Compared {
  readonly step: Step
  readonly work: readonly Work[]
}

/** Returns all remaining changes, without complete steps. */
async function compareAll(steps: readonly Step[], setup: Setup, track: Track): Promise<Compared[]> {
  const all: Compared[] = []
  for (const step of steps) {
    track(texts.run.reads, step)
    const work = await step.compare(setup)
    if (work.length > 0) all.push({ step, work })
  }
  return all
}

function showPlan(terminal: Terminal, all: readonly Compared[], open: readonly Question[]): void {
  if (all.length === 0 && open.length === 0) {
    terminal.line(texts.run.nothing)
    return
  }
  terminal.line(`\n${terminal.style('bold', texts.run.planTitle)}`)
  for (const { text, settings: names } of open)
    terminal.line(`  • ${fill(texts.run.planAsk, { question: text, setting: names.join(' / ') })}`)
  for (const group of groups) {
    const changes = all.filter(({ step }) => step.group === group).flatMap(({ work }) => work)
    if (changes.length === 0) continue
    terminal.line(`\n${terminal.style('bold', capital(texts.groups[group]))}`)
    for (const { text } of changes) terminal.line(`  • ${text}`)
  }
}

const capital = (text: string): string => text.replace(/^./, (first) => first.toUpperCase())

/** Describes the roles that the person lacks for these changes, one line for each. */
function lackingLines({ roles, person }: Setup, all: readonly Compared[], first: string): string[] {
  const lacking = new Map<string, { group: GroupName; roles: readonly AnyRole[] }>()
  for (const { step } of all) {
    if (isAllowed(roles, step.roles)) continue
    lacking.set(`${step.group} ${step.roles.join()}`, { group: step.group, roles: step.roles })
  }
  if (lacking.size === 0) return []
  const lines = [...lacking.values()].map(({ group, roles: needed }) =>
    fill(texts.run.lackingRole, { title: texts.groups[group], roles: named(needed) }),
  )
  return [fill(first, { person: person.displayName }), ...lines.map((line) => `  ${line}`)]
}

interface Completing {
  readonly environment: SetupEnvironment
  readonly options: Options
  readonly terminal: Terminal
  readonly setup: Setup
  readonly group: GroupName
  readonly title: string
  readonly track: Track
  readonly remarks: string[]
}

/** Shows the changes of one group, requests confirmation, and applies them. */
async function completeGroup({
  environment,
  options,
  terminal,
  setup,
  group,
  title,
  track,
  remarks,
}: Completing): Promise<void> {
  const { signal, steps = allSteps } = environment
  const own = steps.filter((step) => step.group === group)
  const changes: Work[] = []
  for (const step of own) {
    track(texts.run.reads, step)
    changes.push(...(await step.compare(setup)))
  }
  if (changes.length === 0) return
  terminal.line(`\n${terminal.style('bold', title)}`)
  const intros: Readonly<Record<string, string>> = texts.intros
  if (intros[group] !== undefined) terminal.line(terminal.style('dim', intros[group]))
  if (!options.yes) {
    for (const { text } of changes) terminal.line(`  • ${text}`)
    if (!terminal.isInteractive) throw new Stopped(texts.run.noTerminal)
    const isConfirmed = await promptsOf({ terminal, signal }).yes(texts.run.confirm, true)
    if (!isConfirmed) throw new Stopped(fill(texts.run.declined, { title: texts.groups[group] }))
  }
  try {
    for (const step of own) await completeStep({ step, setup, terminal, track, signal })
  } finally {
    for (const text of remarks.splice(0)) setup.note(text)
  }
}

/** How often a change is repeated if it is unknown whether it was applied. */
const maxUncertain = 3

/** Applies the changes of a step, and compares again until no change is left, which confirms them. */
async function completeStep(the: {
  readonly step: Step
  readonly setup: Setup
  readonly terminal: Terminal
  readonly track: Track
  readonly signal: AbortSignal
}): Promise<void> {
  const { step, setup, terminal, track, signal } = the
  const applied = new Set<string>()
  let uncertain = 0
  let waited = 0
  const wait = async (problem: string, what: string) => {
    if (waited >= setup.options.patience) throw new SetupProblem(fill(problem, { what }), texts.problems.notYetHint)
    const next = nextWait(waited)
    if (isLong(waited, next)) terminal.line(terminal.style('dim', `  ${texts.run.waiting}`))
    await setup.pause(next)
    waited += next
  }
  for (;;) {
    track(texts.run.reads, step)
    const work = await step.compare(setup)
    const [first] = work
    if (first === undefined) return
    const fresh = work.filter(({ text }) => !applied.has(text))
    if (fresh.length === 0) {
      await wait(texts.problems.notVisible, first.text)
      continue
    }
    let current = first.text
    try {
      for (const one of fresh) {
        signal.throwIfAborted()
        current = one.text
        track(current, step)
        await one.apply()
        applied.add(one.text)
        terminal.line(`  ${terminal.style('green', '✓')} ${one.text}`)
        if (one.renews) break
      }
    } catch (error) {
      if (error instanceof TooEarly) {
        await wait(texts.problems.notYet, current)
        continue
      }
      uncertain += 1
      if (!(error instanceof GraphError) || !error.isUncertain || uncertain > maxUncertain) throw error
      terminal.line(terminal.style('dim', `  ${texts.run.again}`))
      await setup.pause(500 * 2 ** uncertain)
    }
  }
}
