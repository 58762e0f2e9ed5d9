import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { parsedJson } from '../../core/index.ts'
import type { OpenInstallation } from './installation.ts'
import { createScrubber, type Scrubber } from './scrub.ts'
import { mark, markedPattern, type TrialInput } from './trial.ts'

/** One HTTP call to Microsoft 365, without values of the organisation. */
const recordedCall = z.strictObject({
  method: z.string(),
  /** With `{id}` instead of ids, and with our names instead of hosts. */
  url: z.string(),
  /** Headers that change the meaning of a call. */
  headers: z.record(z.string(), z.string()),
  /** The shape of the body: its properties with the types of their values. Absent without a body. */
  body: z.unknown().optional(),
  status: z.int(),
  milliseconds: z.int(),
  retryAfter: z.string().optional(),
  /** The answer. All values of the organisation are replaced; equal values have equal replacements. */
  answer: z.unknown().optional(),
})
type RecordedCall = z.output<typeof recordedCall>

/** A scrubbed recording of a run with `--write`. A test replays it against the connector. */
export const recording = z.strictObject({
  format: z.literal(1),
  version: z.string(),
  /** The settings and the created resources, with the same replacements as the answers. */
  settings: z.record(z.string(), z.string()),
  input: z.record(z.string(), z.unknown()),
  calls: z.array(recordedCall),
})
export type Recording = z.output<typeof recording>

interface Raw {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: string | undefined
  readonly status: number
  readonly milliseconds: number
  readonly retryAfter: string | undefined
  readonly answer: string
}

/** Headers that the connector sends on purpose. */
const keptHeaders = ['prefer', 'x-cmdletname', 'odata-version', 'consistencylevel']

export interface Recorder {
  /** Sends calls, and keeps them until the recording is written. */
  readonly fetch: typeof fetch
  /** The calls so far as a recording. `known`: values of this organisation with what replaces each. */
  recording(about: {
    readonly version: string
    readonly settings: Readonly<Record<string, string>>
    readonly input: Readonly<Record<string, unknown>>
    readonly known: ReadonlyMap<string, string>
    readonly kept: RegExp
  }): Recording
}

export function createRecorder(send: typeof fetch): Recorder {
  const calls: Raw[] = []
  return {
    async fetch(input, init) {
      const started = performance.now()
      const response = await send(input, init)
      const answer = await response.clone().text()
      calls.push({
        method: init?.method ?? 'GET',
        url: String(input instanceof Request ? input.url : input),
        headers: new Headers(init?.headers),
        body: typeof init?.body === 'string' ? init.body : undefined,
        status: response.status,
        milliseconds: Math.round(performance.now() - started),
        retryAfter: response.headers.get('retry-after') ?? undefined,
        answer,
      })
      return response
    },
    recording({ version, settings, input, known, kept }) {
      const scrub = createScrubber({ known, kept })
      const values = (record: Readonly<Record<string, unknown>>) => scrub.value(record) as Record<string, never>
      return recording.parse({
        ...{ format: 1, version, settings: values(settings), input: values(input) },
        calls: calls.map((call) => scrubbed(call, scrub)),
      })
    },
  }
}

function scrubbed(
  { method, url, headers, body, status, milliseconds, retryAfter, answer }: Raw,
  scrub: Scrubber,
): RecordedCall {
  const shown = keptHeaders.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, scrub.text(value)] as const]
  })
  const isSignIn = url.includes('/oauth2/')
  return {
    ...{ method, url: scrub.template(url), headers: Object.fromEntries(shown), status, milliseconds },
    ...(body !== undefined && { body: shapeOf(parsedJson(body) ?? formOf(body), scrub) }),
    ...(retryAfter !== undefined && /^\d+$/.test(retryAfter) && { retryAfter }),
    ...(answer !== '' && { answer: isSignIn ? signInAnswer(answer) : scrub.value(parsedJson(answer) ?? answer) }),
  }
}

/** A sign-in's answer has a token, so only its outcome is kept. */
function signInAnswer(answer: string): unknown {
  const { error, expires_in: expiresIn } = Object(parsedJson(answer))
  const [code] = /AADSTS\d+/.exec(answer) ?? []
  return typeof error === 'string'
    ? { error: code ?? 'error' }
    : { token_type: 'Bearer', expires_in: Number(expiresIn) }
}

/** Returns the properties of a body with the types of their values. Names of cmdlets stay, because they are not values of the organisation. */
function shapeOf(value: unknown, scrub: Scrubber): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0], scrub)]
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      scrub.property(name),
      name === 'CmdletName' && typeof one === 'string' ? one : shapeOf(one, scrub),
    ]),
  )
}

const formOf = (body: string): Record<string, string> => Object.fromEntries(new URLSearchParams(body))

/** Identifies a call in a replay: calls with the same key get their answers in the recorded order. */
export const replayKey = ({
  method,
  url,
  headers,
  body,
}: Pick<RecordedCall, 'method' | 'url' | 'headers' | 'body'>): string =>
  JSON.stringify([method, url, headers['x-cmdletname'] ?? '', body ?? null])

/** Describes a call of a replay in the form of a recording. Its values are already replaced. */
export function describeCall(
  { method = 'GET', url, headers, body }: { method?: string; url: string; headers: Headers; body?: string },
  kept: RegExp,
): Pick<RecordedCall, 'method' | 'url' | 'headers' | 'body'> {
  const scrub = createScrubber({ known: new Map(), kept })
  const raw = { method, url, headers, body, status: 200, milliseconds: 0, retryAfter: undefined, answer: '' }
  return scrubbed(raw, scrub)
}

/** The name of the schema extension in every recording. */
const extension = 'ext00000000_checked'
/** Matches our own names in recordings: of the resources of a trial, and of the extension. */
export const keptWords = new RegExp(`^(?:${markedPattern}|${mark}|SPO-${mark}|${mark}\\*|${extension})$`, 'i')

/** Creates a recording of all calls, without names of the organisation or of people. */
export async function recordingOf(
  recorder: Recorder,
  { endpoints, context }: OpenInstallation,
  { input, version }: { readonly input: TrialInput; readonly version: string },
): Promise<Recording> {
  const { tenantId, clientId, loginUrl, directoryUrl, sharePointUrl, sharePointAdminUrl, exchangeUrl } = endpoints
  const urls = { loginUrl, directoryUrl, sharePointUrl, sharePointAdminUrl, exchangeUrl }
  const others = endpoints.otherSharePointHosts.flatMap(({ url, adminUrl }) => [url, adminUrl])
  const hosts = [...new Set([...Object.values(urls), ...others].map((url) => new URL(url).host))]
  const { accepted } = await context.ports.directory.mailDomains()
  const known = new Map<string, string>([
    ...hosts.flatMap((host, index): [string, string][] => [
      [host, `host${index + 1}.example`],
      [host.replace(/:\d+$/, ''), `host${index + 1}.example`],
    ]),
    ...accepted.map((domain, index): [string, string] => [domain, `domain${index + 1}.example`]),
    [endpoints.directoryExtension, extension],
  ])
  return recorder.recording({
    ...{ version, known, kept: keptWords, input: { ...input } },
    settings: { tenantId, clientId, ...urls, directoryExtension: endpoints.directoryExtension },
  })
}

/** Writes a recording that only its owner can read, also into a file that others could read before. */
export function writeRecording(path: string, recording: Recording): void {
  const file = openSync(path, 'w', 0o600)
  try {
    if (fstatSync(file).isFile()) fchmodSync(file, 0o600)
    writeFileSync(file, `${JSON.stringify(recording, undefined, 1)}\n`)
  } finally {
    closeSync(file)
  }
}
