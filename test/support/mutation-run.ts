import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { parsedJson } from '../../src/core/index.ts'
import { problemBody } from '../../src/http/index.ts'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { contractFault } from './contract.ts'
import { type JsonObject, type Mutation, mutateField } from './mutations.ts'
import { mutateAddress, mutateHeader, mutateWhole } from './mutations-whole.ts'
import { seed } from './seed.ts'

/** Number of mutations for each endpoint; the long run (`npm run test:mutations`) uses 5,000. */
export const rounds = Number(process.env['MUTATIONS'] ?? 150)
export const isLongRun = rounds >= 1000
/** Number of concurrent mutations: one, because everything runs in one process, and each answer is timed. */
const lanes = 1
/** Maximum time of an answer in milliseconds (issue 5). Only the long run asserts it. */
export const longestAnswer = 500

export interface WireAnswer {
  readonly status: number
  readonly type: string
  readonly headers: Headers
  readonly text: string
}
/** Unusual parts of a call besides the body. */
interface Change {
  readonly path?: (path: string) => string
  readonly headers?: Record<string, string>
}
/** One endpoint that writes, with its valid bodies. */
export interface Endpoint {
  /** The method and path of its route, and the verb of a card. */
  readonly name: string
  /** Creates a valid body, different each time; undefined for a route without a body. */
  good(count: number): JsonObject | undefined | Promise<JsonObject>
  /** Sends a body, with an unusual address and headers if they are set. */
  send(mutation: Mutation, change: Change): Promise<WireAnswer>
  /** Returns the fault of an answer that is no 5xx, if it has one. `run` judges problems. */
  judge?(answer: WireAnswer): string | undefined
  /** The JSON pointer of the valid body within the sent data. */
  readonly at?: string
  /** The number of mutations, if it differs. */
  readonly rounds?: number
  /** Returns further fields that a refusal may name instead of this one, because one rule concerns both. */
  tied?(pointer: string): readonly string[]
  /** Whether refusals may be something other than problems, such as a card. */
  readonly otherRefusals?: true
}

/** A status and content type that a route has returned. */
export interface SeenAnswer {
  readonly route: string
  readonly status: number
  /** The content type without its parameters; empty without a body. */
  readonly type: string
}
const answers = new Map<string, SeenAnswer>()

/** Returns every status and content type in this file's tests. */
export const seenAnswers = (): readonly SeenAnswer[] => [...answers.values()]

/** Writes them as JSON into the folder `SEEN_ANSWERS`, or into the folder of this run. Returns the file. */
export function writeSeenAnswers(name: string): string {
  const folder = process.env['SEEN_ANSWERS'] ?? join(inject('runFolder'), 'seen-answers')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}.json`)
  const sorted = seenAnswers().toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
  writeFileSync(file, `${JSON.stringify(sorted, null, 1)}\n`)
  return file
}
const key = ({ route, status, type }: SeenAnswer) => `${route} ${status} ${type}`

function note(route: string, { status, type }: WireAnswer): void {
  const answer = { route, status, type: type.split(';')[0] ?? '' }
  answers.set(key(answer), answer)
}

const agent = new Agent({ keepAlive: true, maxSockets: lanes * 2 })

/** Sends one call with exactly this path and these headers: fetch would normalise both. */
export async function wire(
  url: string,
  call: { method: string; path: string; headers: Record<string, string>; body?: string | Buffer },
): Promise<WireAnswer> {
  const { hostname, port } = new URL(url)
  const { method, path, body } = call
  const headers = { ...call.headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) }
  const answer = await new Promise<WireAnswer>((resolve, reject) => {
    const sent = request({ agent, hostname, port, method, path, headers }, (response) => {
      text(response).then((read) => {
        const { statusCode: status = 0, headersDistinct } = response
        const headers = new Headers(
          Object.entries(headersDistinct).flatMap(([name, all = []]) =>
            all.map((one) => [name, one] as [string, string]),
          ),
        )
        resolve({ status, type: headers.get('content-type') ?? '', headers, text: read })
      }, reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
  return answer
}

/** The results of an endpoint's mutations. */
export interface Figures {
  readonly name: string
  sent: number
  accepted: number
  /** Refusals of a single field, and how many of them name it. */
  ofField: number
  named: number
  readonly milliseconds: number[]
  readonly statuses: Map<number, number>
  /** Calls that were too slow each time they were sent. */
  readonly slow: string[]
  readonly failures: string[]
  readonly unnamed: string[]
}

/** Sends mutations of an endpoint's valid bodies: four of five change one field. */
export async function run(endpoint: Endpoint): Promise<Figures> {
  const { name } = endpoint
  const random = mulberry32(seed ^ [...name].reduce((sum, one) => Math.imul(sum, 31) + one.charCodeAt(0), 7))
  const figures: Figures = {
    ...{ name, sent: 0, accepted: 0, ofField: 0, named: 0, milliseconds: [], statuses: new Map() },
    ...{ failures: [], unnamed: [], slow: [] },
  }
  const lane = async () => {
    while (figures.sent < (endpoint.rounds ?? rounds)) {
      figures.sent += 1
      await one(endpoint, figures, figures.sent, random)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return figures
}

async function one(endpoint: Endpoint, figures: Figures, count: number, random: () => number): Promise<void> {
  const good = await endpoint.good(count)
  const dice = random()
  const isChanged = good !== undefined && dice < 0.9
  const mutation: Mutation = !isChanged
    ? { what: 'its address or a header', pointers: [], body: good ? JSON.stringify(good) : '' }
    : dice < 0.8
      ? mutateField(good, random)
      : mutateWhole(good, random)
  const inAddress = random() < 0.5
  const path = inAddress ? (usual: string) => mutateAddress(usual, random) : undefined
  const change: Change = isChanged ? {} : path ? { path } : { headers: mutateHeader(random) }
  const about = `${mutation.what}${change.headers ? ` ${JSON.stringify(change.headers)}` : ''}`
  const began = performance.now()
  const answer = await endpoint.send(mutation, change).catch((error: unknown) => error)
  const whole = `${figures.name}: ${about}: ${String(mutation.body).slice(0, 600)}`
  if (answer instanceof Error) return void figures.failures.push(`${answer.message} from ${whole}`)
  const { status, text } = answer as WireAnswer
  const milliseconds = performance.now() - began
  figures.milliseconds.push(milliseconds)
  if (milliseconds > longestAnswer && (await isSlowAgain(endpoint, mutation, change)))
    figures.slow.push(`${Math.round(milliseconds)} ms and more: ${whole}`)
  figures.statuses.set(status, (figures.statuses.get(status) ?? 0) + 1)
  note(inAddress && change.path ? `${figures.name} *` : figures.name, answer as WireAnswer)
  const fault = faultOf(endpoint, answer as WireAnswer) ?? undeclared(endpoint, change, answer as WireAnswer)
  if (fault) return void figures.failures.push(`${fault}: ${status} ${text.slice(0, 600)} from ${whole}`)
  if (status < 400) figures.accepted += 1
  else countNamed(endpoint, figures, mutation, answer as WireAnswer, whole)
}

/** Returns whether a call is slow again. A pause of the machine is temporary; a slow body is always slow. */
async function isSlowAgain(endpoint: Endpoint, mutation: Mutation, change: Change): Promise<boolean> {
  for (let again = 0; again < 3; again += 1) {
    const began = performance.now()
    await endpoint.send(mutation, change)
    if (performance.now() - began <= longestAnswer) return false
  }
  return true
}

/** Refusals that do not concern one field: the state, earlier calls, the total size. */
const stateCodes = ['already-decided', 'already-ended', 'illegal-transition', 'stale-version', 'body-too-large']

function countNamed(
  endpoint: Endpoint,
  figures: Figures,
  { pointers }: Mutation,
  { text, status }: WireAnswer,
  whole: string,
): void {
  if (pointers.length === 0 || ![400, 409, 413, 422].includes(status)) return
  const problem = problemBody.safeParse(parsedJson(text)).data
  if (problem === undefined || stateCodes.includes(problem.code)) return
  figures.ofField += 1
  const { at = '' } = endpoint
  const wanted = [...pointers, ...pointers.flatMap((one) => endpoint.tied?.(one) ?? [])].map((one) => at + one)
  const pointersNamed = problem.errors?.map(({ pointer }) => pointer.slice(1)) ?? []
  if (
    pointersNamed.some((one) => wanted.some((place) => one === place || (place !== '' && one.startsWith(`${place}/`))))
  )
    figures.named += 1
  else figures.unnamed.push(`${pointersNamed.join(' ') || problem.code} instead of ${pointers.join(' or ')}: ${whole}`)
}

/**
 * Returns the parts of an answer that the API document does not declare. With a changed address, another route or none
 * answers.
 */
function undeclared({ name }: Endpoint, change: Change, { status, headers, text }: WireAnswer): string | undefined {
  if (change.path) return undefined
  const [method = '', path = ''] = name.split(' ')
  return contractFault({ method, path }, { status, headers, text, body: parsedJson(text) })
}

function faultOf(endpoint: Endpoint, answer: WireAnswer): string | undefined {
  const { status, type, text } = answer
  if (status >= 500) return 'a failure of ours'
  // The random part of an export link can resemble anything, also the beginning of a token.
  const content = text.replaceAll(/\/exports\/v1\/[\w-]{86}/g, '')
  if (/\bat .+:\d+:\d+|node_modules|\/src\/|select .+ from|eyJ[\w-]{20}/i.test(content)) return 'shows internals'
  if (status < 400 || endpoint.otherRefusals) return endpoint.judge?.(answer)
  if (!type.startsWith('application/problem+json')) return 'no problem'
  const problem = problemBody.safeParse(parsedJson(text)).data
  if (problem?.status !== status) return 'no problem of its form'
  return problem.type === `urn:quartermaster:problem:${problem.code}` ? undefined : 'a problem of another type'
}

/** Returns one line of figures. */
export function figuresLine(figures: Figures): string {
  const { name, sent, accepted, ofField, named, milliseconds, statuses } = figures
  const sorted = milliseconds.toSorted((one, other) => one - other)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  const counts = [...statuses].sort(([one], [other]) => one - other).map(([status, count]) => `${status}×${count}`)
  const pointers =
    ofField === 0 ? '' : `, field named in ${named} of ${ofField} (${((100 * named) / ofField).toFixed(2)} %)`
  return `${name}: ${sent} sent, ${accepted} accepted (${counts.join(' ')})${pointers}; p50 ${at(0.5)} p99 ${at(0.99)} worst ${at(1)} ms`
}
