import type { CloudName } from '../addresses.ts'
import type { Graph } from './graph.ts'
import type { AnyRole } from './roles.ts'
import type { SettingsFile } from './settings-file.ts'

/** The names of everything that setup creates. A second installation in the same tenant has an instance name. */
export interface Names {
  readonly instance: string
  /** The alternate key of a registration or group: `quartermaster-bot`, `quartermaster-test-bot`. */
  key(part: string): string
  /** The name that people see: `Quartermaster bot`, `Quartermaster bot (test)`. */
  title(part: string): string
  /** The app's name in Teams: `Quartermaster test`. Undefined: the product's name. */
  readonly app: string | undefined
}

export const namesOf = (instance: string): Names => ({
  instance,
  key: (part) => (instance === '' ? `quartermaster-${part}` : `quartermaster-${instance}-${part}`),
  title: (part) => (instance === '' ? `Quartermaster ${part}` : `Quartermaster ${part} (${instance})`),
  // Teams accepts 30 characters.
  app: instance === '' ? undefined : `Quartermaster ${instance}`.slice(0, 30),
})

/** The default file of settings of an installation. */
export const settingsFileOf = (instance: string): string => (instance === '' ? '.env' : `.env.${instance}`)

/** Instance names are part of keys, mail nicknames and names of files. `.env.example` is a file of the project. */
export const isInstance = (text: string): boolean =>
  /^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$/.test(text) && text !== 'example'

/** The groups of changes, in their order. The administrator confirms each group as a whole. */
export const groups = ['registrations', 'credentials', 'permissions', 'directory', 'teams', 'files'] as const
export type GroupName = (typeof groups)[number]

/** The context of all steps. */
export interface Setup {
  readonly graph: Graph
  readonly settings: SettingsFile
  readonly names: Names
  readonly person: { readonly id: string; readonly displayName: string }
  readonly tenantId: string
  /** Roles of the signed-in person, by template id; undefined if they could not be read. */
  readonly roles: ReadonlySet<string> | undefined
  readonly cloud: CloudName
  readonly loginUrl: string
  /** The resource of tokens for Microsoft Graph. */
  readonly graphResource: string
  readonly fetch: typeof fetch
  readonly options: StepOptions
  /** Shows a note at once, for example about a delay of Microsoft. */
  note(text: string): void
  /** Shows a consequence of a change, after the change. */
  remark(text: string): void
  /** Waits, and ends early with an error on Ctrl-C. */
  pause(milliseconds: number): Promise<void>
}

interface StepOptions {
  /** Uploads the app package to the organisation's catalogue. */
  readonly catalogue: boolean
  /** How long a new secret and a new certificate are valid. Days. */
  readonly secretDays: number
  readonly certificateDays: number
  /** How long to wait for accepted changes that Microsoft does not show yet. Milliseconds. */
  readonly patience: number
  readonly now: () => Date
}

/** One change, as people read it: `Create the registration …`. */
export interface Change {
  readonly text: string
  /** The found state is outdated after this change, so it is read again before the next change. */
  readonly renews?: boolean
}

/** The input of a step's pure comparison, next to the found state. */
export interface Wanted {
  readonly names: Names
  readonly settings: Readonly<Record<string, string>>
  readonly personId: string
  readonly tenantId: string
  readonly cloud: CloudName
  readonly roles: ReadonlySet<string> | undefined
  readonly options: StepOptions
  readonly now: Date
}

interface StepSpec<Found, C extends Change> {
  readonly id: string
  readonly group: GroupName
  /** Any one of these roles allows the changes. */
  readonly roles: readonly AnyRole[]
  /** The delegated permission of the changes. */
  readonly scope: string
  /** Reads the current state. Changes nothing. */
  find(setup: Setup): Promise<Found>
  /** Compares the current state with the required state. Calls nothing. */
  changes(found: Found, wanted: Wanted): readonly C[]
  apply(setup: Setup, change: C, found: Found): Promise<void>
}

/** A change that can be applied. */
export interface Work extends Change {
  apply(): Promise<void>
}

/** One part of the installation. {@link steps} lists all of them. */
export interface Step extends Pick<StepSpec<unknown, Change>, 'id' | 'group' | 'roles' | 'scope'> {
  /** Returns the remaining changes. */
  compare(setup: Setup): Promise<readonly Work[]>
}

export function defineStep<Found, C extends Change>(spec: StepSpec<Found, C>): Step {
  const { id, group, roles, scope } = spec
  return {
    ...{ id, group, roles, scope },
    async compare(setup) {
      const found = await spec.find(setup)
      const changes = spec.changes(found, wantedOf(setup))
      return changes.map((change) => ({ ...change, apply: () => spec.apply(setup, change, found) }))
    },
  }
}

const wantedOf = ({ names, settings, person, tenantId, cloud, roles, options }: Setup): Wanted => ({
  ...{ names, settings: settings.values(), personId: person.id, tenantId, cloud, roles, options, now: options.now() },
})
