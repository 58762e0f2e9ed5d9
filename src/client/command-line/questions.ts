import input from '@inquirer/input'
import rawlist from '@inquirer/rawlist'
import type { AnyTemplate, Client } from '../index.ts'
import { SignInError } from '../sign-in.ts'
import { type Body, withoutValue, withValue } from './body.ts'
import type { Scope } from './define-command.ts'
import { clean, fill, texts, UsageError } from './terminal.ts'

/** Questions at the terminal. They go to the error stream, so that a result can be piped. */
interface Prompts {
  /**
   * Returns the trimmed answer, or the default for an empty one. `check` returns what is wrong with an answer; the
   * question is then repeated. `shownAs` hides secret parts of what is typed.
   */
  text(question: string, otherwise?: string, check?: Check, shownAs?: (typed: string) => string): Promise<string>
  /** Returns one of several values, chosen by number or arrow keys. */
  choose<T>(
    question: string,
    choices: readonly { readonly title: string; readonly value: T }[],
    otherwise?: T,
  ): Promise<T>
  yes(question: string, otherwise: boolean): Promise<boolean>
}
type Check = (answer: string) => Promise<string | undefined> | string | undefined

/** Asks with the library's prompts. Ctrl-C and the end of the input cancel a question. */
export function promptsOf({ terminal, signal }: Pick<Scope, 'terminal' | 'signal'>): Prompts {
  const { input: keys, errors: output } = terminal.streams
  const ask = async <T>(prompt: (context: PromptContext, fail: (error: unknown) => void) => Promise<T>): Promise<T> => {
    const ended = new AbortController()
    // At the end of the input (Ctrl-D) the library only pauses its reader, and would wait forever.
    keys.once('pause', () => setImmediate(() => ended.abort(new SignInError('cancelled'))))
    const context = { input: keys, output, signal: AbortSignal.any([signal, ended.signal]) }
    try {
      return await prompt(context, (error) => ended.abort(error))
    } catch (error) {
      ended.signal.throwIfAborted()
      const isEnded = error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name)
      throw isEnded ? new SignInError('cancelled') : error
    }
  }
  const text: Prompts['text'] = (question, otherwise = '', check = () => undefined, shownAs = (typed) => typed) => {
    // The library would show a default with its control characters.
    const message = otherwise === '' ? question : `${question} [${clean(otherwise)}]`
    const read = (typed: string) => typed.trim() || otherwise
    return ask(async (context, fail) => {
      const validate = async (typed: string) => {
        try {
          return (await check(read(typed))) ?? true
        } catch (error) {
          fail(error)
          // The prompt has ended, and must not be drawn again.
          return new Promise<never>(() => undefined)
        }
      }
      const config = { message, validate, transformer: shownAs, theme: { validationFailureMode: 'clear' } } as const
      return read(await input(config, context))
    })
  }
  return {
    text,
    choose(message, choices, otherwise) {
      const numberNeeded = fill(texts.ask.numberNeeded, { most: choices.length })
      const config = {
        ...{ message, default: otherwise, theme: { style: { error: () => `> ${numberNeeded}` } } },
        choices: choices.map(({ title, value }) => ({ name: title, value })),
      }
      return ask((context) => rawlist(config, context))
    },
    async yes(question, otherwise) {
      const { yes, no, yesOrNo, noOrYes, yesNeeded } = texts.ask
      const known = ['', ...yes, ...no]
      const check = (typed: string) => (known.includes(typed.toLowerCase()) ? undefined : yesNeeded)
      const typed = (await text(`${question} ${otherwise ? yesOrNo : noOrYes}`, '', check)).toLowerCase()
      return typed === '' ? otherwise : yes.includes(typed)
    },
  }
}
type PromptContext = NonNullable<Parameters<typeof input>[1]>

/** One question, and the path of its answer in the body: `metadata.costCentre`. */
export interface Question {
  readonly path: string
  readonly label: string
  readonly takes: 'text' | 'number' | 'boolean' | 'list' | 'people' | 'choice'
  readonly required: boolean
  readonly otherwise?: string | undefined
  readonly choices?: readonly { readonly title: string; readonly value: string }[]
}

type Kind = AnyTemplate['kind']
type StandardField = keyof typeof texts.fields
/** The questions of each kind, as on the bot's first page; other fields have flags. */
const standardFields: Readonly<Record<Kind, readonly StandardField[]>> = {
  teamSite: ['displayName', 'description', 'alias', 'owners'],
  communicationSite: ['displayName', 'description', 'alias', 'owners'],
  sharedMailbox: ['displayName', 'name', 'permissions.FullAccess', 'reason'],
  roomMailbox: [
    ...(['displayName', 'name', 'officeLocation', 'metadata.seats', 'isWheelChairAccessible'] as const),
    ...(['roomMailboxMetadata.hasWhiteboard', 'roomMailboxMetadata.hasVideoConferencing', 'reason'] as const),
  ],
  equipmentMailbox: ['displayName', 'name', 'reason'],
}
const requiredFields: readonly string[] = ['displayName', 'name']
const takes: Partial<Record<StandardField, Question['takes']>> = {
  owners: 'list',
  'permissions.FullAccess': 'people',
  'metadata.seats': 'number',
  isWheelChairAccessible: 'boolean',
  'roomMailboxMetadata.hasWhiteboard': 'boolean',
  'roomMailboxMetadata.hasVideoConferencing': 'boolean',
}

/** The questions of a template: those of its kind and policy, its own, and its label. */
export function questionsOf(template: AnyTemplate): Question[] {
  const rules = template.properties
  const standard = standardFields[template.kind].flatMap((path): Question[] => {
    const rule = rules[path]
    if (rule?.fixed !== undefined || rule?.shown === false) return []
    const required = requiredFields.includes(path) || rule?.required === true
    const otherwise = rule?.default === undefined ? undefined : String(rule.default)
    return [{ path, label: texts.fields[path], takes: takes[path] ?? 'text', required, otherwise }]
  })
  const own = template.fields.map((field): Question => {
    const label = field.help === '' ? clean(field.label) : `${clean(field.label)} (${clean(field.help)})`
    const otherwise = field.default === undefined ? undefined : String(field.default)
    const choices = field.choices.map(({ title, value }) => ({ title: clean(title), value }))
    const path = `metadata.${field.key}`
    return { path, label, takes: takesOfType[field.type], required: field.required, otherwise, choices }
  })
  return [...standard, ...own.filter(({ path }) => rules[path]?.fixed === undefined), ...labelOf(template)]
}

const takesOfType: Readonly<Record<AnyTemplate['fields'][number]['type'], Question['takes']>> = {
  text: 'text',
  choice: 'choice',
  number: 'number',
  date: 'text',
  toggle: 'boolean',
  person: 'text',
}

function labelOf({ labels }: AnyTemplate): Question[] {
  if (labels.allowed.length < 2) return []
  const choices = labels.allowed.map(({ id, name }) => ({ title: clean(name), value: id }))
  const otherwise = labels.default ?? undefined
  return [{ path: 'labelId', label: texts.fields.labelId, takes: 'choice', required: false, otherwise, choices }]
}

/** Lets the person choose one of the templates of these kinds. */
export async function chooseTemplate(
  prompts: Prompts,
  client: Client,
  kinds: readonly Kind[],
  { signal }: Scope,
): Promise<AnyTemplate> {
  const templates = (await client.templates({ signal }))
    .filter(({ kind }) => kinds.includes(kind))
    .sort((one, other) => one.order - other.order)
  if (templates.length === 0) throw new UsageError(texts.ask.noTemplates)
  const choices = templates.map((one) => ({ title: titleOf(one), value: one }))
  const [only] = templates
  return prompts.choose(texts.ask.template, choices, templates.length === 1 ? only : undefined)
}
const titleOf = ({ name, description }: AnyTemplate): string =>
  description === '' ? clean(name) : `${clean(name)}: ${clean(description)}`

/** How answers are checked while they are typed. */
interface AnswerChecks {
  /** Replaces sign-in names in a body by ids. Throws {@link UsageError} for a person that the directory does not know. */
  named(body: Body): Promise<Body>
  /** Returns what the service would refuse about this field of a body. */
  fault(body: Body, path: string): Promise<string | undefined>
}

/**
 * Asks one question until the answer is valid, and replaces its value in the body; an empty answer removes the value.
 */
export async function askQuestion(
  prompts: Prompts,
  question: Question,
  before: Body,
  { named, fault }: AnswerChecks,
): Promise<Body> {
  const { path, label, takes: kind, required } = question
  const place = path.split('.')
  // All people together are one answer, with any access.
  const body = withoutValue(before, kind === 'people' ? place.slice(0, 1) : place)
  const otherwise = question.otherwise ?? suggested(path, body)
  if (kind === 'boolean') return withValue(body, place, await prompts.yes(label, otherwise === 'true'))
  if (kind === 'choice') {
    const none = required ? [] : [{ title: texts.ask.none, value: '' }]
    const chosen = await prompts.choose(
      label,
      [...(question.choices ?? []), ...none],
      otherwise ?? (required ? undefined : ''),
    )
    return chosen === '' ? body : withValue(body, place, chosen)
  }
  let whole = body
  await prompts.text(required ? `${label}:` : `${label} ${texts.ask.optional}:`, otherwise, async (typed) => {
    whole = body
    if (typed === '') return required ? texts.ask.needed : undefined
    if (kind === 'number' && !/^-?\d{1,15}(\.\d+)?$/.test(typed)) return texts.ask.noNumber
    try {
      whole = await named(placed(body, place, kind, typed))
      return await fault(whole, path)
    } catch (error) {
      // The directory does not know a person.
      if (error instanceof UsageError) return error.message
      throw error
    }
  })
  return whole
}

function placed(body: Body, place: readonly string[], kind: Question['takes'], typed: string): Body {
  const several = typed.split(/[\s,;]+/).filter((each) => each !== '')
  if (kind === 'number') return withValue(body, place, Number(typed))
  if (kind === 'list') return withValue(body, place, several)
  if (kind === 'people') {
    const [field = '', access] = place
    return withValue(body, [field], Object.fromEntries(several.map((id) => [id, access])))
  }
  return withValue(body, place, typed)
}

/** Suggests a mailbox name from the display name: `Aurora (Zürich)` → `aurora-zurich`. */
function suggested(path: string, body: Body): string | undefined {
  if (path !== 'name' || typeof body['displayName'] !== 'string') return undefined
  const plain = body['displayName'].normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return (
    plain
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 64) || undefined
  )
}
