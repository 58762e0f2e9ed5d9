import { fill } from '../../client/command-line/terminal.ts'
import { type CloudName, clouds, unsafeServer } from '../addresses.ts'
import { environment } from '../settings.ts'
import { SetupProblem } from './problem.ts'
import type { SettingsFile } from './settings-file.ts'
import texts from './strings.json' with { type: 'json' }

/** The facts for checks of answers. */
export interface Facts {
  readonly tenantId: string
  readonly initialDomain: string | undefined
  readonly cloud: CloudName
  readonly fetch: typeof fetch
  note(text: string): void
}

/** A question that only the administrator can answer. The answer is a setting. Questions with a setting are not asked. */
export interface Question {
  /** The settings that answer the question. A typed answer is checked as the first setting. */
  readonly settings: readonly string[]
  readonly option: string
  readonly text: string
  /** The proposed answer. */
  proposal(facts: Facts): string | undefined
  /** Returns the fault of an answer. */
  check(answer: string, facts: Facts): Promise<string | undefined>
  /** Returns the settings for an answer. */
  valuesFor(answer: string, settings: SettingsFile): Readonly<Record<string, string>>
  /** Returns the shown form of an answer while it is typed. */
  shownAs?(typed: string): string
}

/** The folder of the embedded database: the present one, or a new one that no other installation has. */
const folderOf = (settings: SettingsFile): string => settings.get('DATA_DIR') ?? `data/production${settings.suffix}`

export const questions: readonly Question[] = [
  {
    settings: ['BASE_URL'],
    option: 'base-url',
    text: texts.questions.baseUrl,
    proposal: () => undefined,
    async check(answer) {
      const isAddress = environment.shape.BASE_URL.safeParse(answer).success && URL.canParse(answer)
      return isAddress && new URL(answer).protocol === 'https:' ? undefined : texts.questions.noHttps
    },
    // MODE is written first: until setup is complete, npm start reports missing settings instead of starting local mode.
    valuesFor: (answer) => ({ MODE: 'production', BASE_URL: answer.replace(/\/+$/, '') }),
  },
  {
    settings: ['DATABASE_URL', 'DATA_DIR'],
    option: 'database-url',
    text: texts.questions.database,
    proposal: () => texts.questions.embedded,
    async check(answer) {
      if (answer === texts.questions.embedded) return undefined
      if (!environment.shape.DATABASE_URL.safeParse(answer).success) return texts.questions.noDatabase
      return unsafeServer(answer)
    },
    valuesFor: (answer, settings): Record<string, string> =>
      answer === texts.questions.embedded ? { DATA_DIR: folderOf(settings) } : { DATABASE_URL: answer },
    // The address may have a password.
    shownAs: (typed) => typed.replace(/(:\/\/[^:@/]*:)[^@]+/, (_, start: string) => `${start}…`),
  },
  {
    settings: ['SHAREPOINT_URL'],
    option: 'sharepoint-url',
    text: texts.questions.sharePoint,
    proposal: ({ initialDomain, cloud }) => sharePointAddress(initialDomain, cloud),
    async check(answer, { tenantId, fetch, note }) {
      const parsed = environment.shape.SHAREPOINT_URL.safeParse(answer)
      if (!parsed.success) return texts.questions.noSharePoint
      for (const url of parsed.data ?? []) {
        const { fault, isKnown } = await checkSharePoint(url, tenantId, fetch)
        if (fault !== undefined) return fault
        if (!isKnown) note(fill(texts.sharePoint.unchecked, { url }))
      }
      return undefined
    },
    valuesFor: (answer) => ({ SHAREPOINT_URL: answer.replace(/\/+(?=,|$)/g, '') }),
  },
]

interface Asking {
  readonly settings: SettingsFile
  readonly facts: Facts
  /** Answers from options and the environment. */
  preset(question: Question): PresetAnswer | undefined
  /** Asks a person; undefined if nobody can answer. */
  ask?: (question: Question, proposal: string | undefined) => Promise<string>
}

const isAnswered = ({ settings: names }: Question, settings: SettingsFile): boolean =>
  names.some((name) => settings.get(name) !== undefined && !(name === 'DATA_DIR' && isOfTrial(settings)))

/** Whether the file was for a trial of local mode. Its DATA_DIR contains simulated data, which production must not use. */
const isOfTrial = (settings: SettingsFile): boolean => settings.get('MODE') === 'local'

/** An answer that needs no question. */
export interface PresetAnswer {
  /** Undefined if only the first start of the service can check it. */
  readonly answer: string | undefined
  readonly values: Readonly<Record<string, string>>
}

/** Returns answers from the options, and from the environment for settings that the settings file lacks. */
export const presetAnswers =
  (from: {
    readonly answers: Readonly<Record<string, string | undefined>>
    readonly settings: SettingsFile
    readonly variables: Readonly<Record<string, string | undefined>>
  }): Asking['preset'] =>
  (question) => {
    const answer = from.answers[question.option]
    if (answer !== undefined) return { answer, values: question.valuesFor(answer, from.settings) }
    if (isAnswered(question, from.settings)) return undefined
    for (const [index, name] of question.settings.entries()) {
      const value = from.variables[name]
      if (value)
        return index === 0
          ? { answer: value, values: question.valuesFor(value, from.settings) }
          : { answer: undefined, values: { [name]: value } }
    }
    return undefined
  }

/** Returns the questions without an answer. */
export const openQuestions = (settings: SettingsFile, preset: Asking['preset']): readonly Question[] =>
  questions.filter((one) => !isAnswered(one, settings) && preset(one) === undefined)

/** Collects all answers, and asks the missing questions. Writes each answer at once. Returns whether any is new. */
export async function answerQuestions({ settings, facts, preset, ask }: Asking): Promise<boolean> {
  let isNew = isOfTrial(settings)
  if (isNew) await settings.set({ MODE: 'production', ...(settings.get('DATA_DIR') && { DATA_DIR: '' }) })
  for (const question of questions) {
    const known = preset(question)
    if (known === undefined && isAnswered(question, settings)) continue
    const proposal = question.proposal(facts)
    const typed = known === undefined && ask ? await ask(question, proposal) : undefined
    const values = known?.values ?? (typed === undefined ? undefined : question.valuesFor(typed, settings))
    if (values === undefined) {
      const shown = { option: `--${question.option}`, question: question.text }
      throw new SetupProblem(fill(texts.questions.missing, shown), fill(texts.questions.missingHint, shown))
    }
    if (Object.entries(values).every(([name, value]) => settings.get(name) === value)) continue
    // A prompt has checked its answer already.
    const fault = known?.answer === undefined ? undefined : await question.check(known.answer, facts)
    if (fault !== undefined) {
      const shown = { option: `--${question.option}` }
      throw new SetupProblem(fault, fill(texts.questions.wrongHint, shown))
    }
    await settings.set(values)
    isNew = true
  }
  return isNew
}

/** Returns the default address of an organisation's sites: `contoso.onmicrosoft.com` → `https://contoso.sharepoint.com`. */
function sharePointAddress(initialDomain: string | undefined, cloud: CloudName): string | undefined {
  const [, name] = /^([a-z0-9-]+)\.(?:[a-z0-9-]+\.)?onmicrosoft\.(?:com|us)$/i.exec(initialDomain ?? '') ?? []
  return name === undefined ? undefined : `https://${name.toLowerCase()}${clouds[cloud].sharePointSuffix}`
}

const timeoutMilliseconds = 15_000

interface SharePointCheck {
  /** The fault of the address; undefined without a known fault. */
  readonly fault?: string
  /** The address belongs to this tenant. */
  readonly isKnown: boolean
}

/**
 * Finds the tenant of a SharePoint address. Without a token, SharePoint refuses the call and names the tenant
 * as `realm` in `WWW-Authenticate`.
 */
async function checkSharePoint(url: string, tenantId: string, send: typeof fetch): Promise<SharePointCheck> {
  const init = { headers: { authorization: 'Bearer' }, redirect: 'manual' } as const
  const signal = AbortSignal.timeout(timeoutMilliseconds)
  const response = await send(`${url}/_vti_bin/client.svc`, { ...init, signal }).catch(() => undefined)
  if (response === undefined) return { fault: fill(texts.sharePoint.noAnswer, { url }), isKnown: false }
  await response.body?.cancel()
  const [, realm] = /realm="([0-9a-f-]{36})"/i.exec(response.headers.get('www-authenticate') ?? '') ?? []
  if (realm === undefined) return { isKnown: false }
  if (realm.toLowerCase() === tenantId.toLowerCase()) return { isKnown: true }
  return { fault: fill(texts.sharePoint.foreign, { url }), isKnown: false }
}
