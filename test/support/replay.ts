import { describeCall, keptWords, type Recording, recording, replayKey } from '../../src/app/check/recording.ts'
import { runTrial, type TrialInput } from '../../src/app/check/trial.ts'
import { connectMicrosoft365 } from '../../src/microsoft365/index.ts'
import { certificate } from './microsoft365.ts'

/**
 * Runs the checks of the tenant and the trial with a recording: each call receives the answer of a recorded call with
 * the same shape, in the recorded order. Returns the differences: problems, calls without a recording, and recorded
 * writes without a call.
 */
export async function replayed(json: unknown) {
  const known: Recording = recording.parse(json)
  const answers = new Map<string, Recording['calls'][number][]>()
  for (const call of known.calls) {
    const key = replayKey(call)
    answers.set(key, [...(answers.get(key) ?? []), call])
  }
  const unknown: string[] = []
  const replay: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    const call = describeCall(
      {
        ...{ method: init?.method ?? 'GET', url: String(input), headers },
        ...(typeof init?.body === 'string' && { body: init.body }),
      },
      keptWords,
    )
    const next = answers.get(replayKey(call))?.shift()
    if (!next) {
      unknown.push(replayKey(call))
      return Response.json({ error: { code: 'NotRecorded', message: replayKey(call) } }, { status: 400 })
    }
    const isToken = call.url.includes('/oauth2/') && next.status === 200
    const body = isToken ? { ...Object(next.answer), access_token: 'e30.e30.e30' } : next.answer
    const shown = { ...(next.retryAfter !== undefined && { 'retry-after': next.retryAfter }) }
    return new Response(body === undefined ? null : JSON.stringify(body), { status: next.status, headers: shown })
  }
  const { settings } = known
  const setting = (name: string): string => settings[name] ?? ''
  const microsoft365 = connectMicrosoft365({
    ...{ tenantId: setting('tenantId'), clientId: setting('clientId'), certificate, fetch: replay },
    ...{ loginUrl: setting('loginUrl'), directoryUrl: setting('directoryUrl'), exchangeUrl: setting('exchangeUrl') },
    ...{ sharePointUrl: setting('sharePointUrl'), sharePointAdminUrl: setting('sharePointAdminUrl') },
    directoryExtension: setting('directoryExtension'),
  })
  const { probes, removals, directory, tenant } = microsoft365
  const signal = AbortSignal.timeout(30_000)
  const found = [
    ...(await probes.siteHosts(signal)),
    ...(await probes.adminHosts(signal)),
    ...(await probes.cmdlets(signal)),
    ...(await probes.permissions(signal)),
    await probes.extension(signal),
  ]
  const steps = await runTrial(known.input as unknown as TrialInput, {
    ...{ tenant, removals, signal, show: () => undefined, patienceSeconds: 20 },
    findGroup: (requestId) => directory.findProvisionedGroup(requestId),
  })
  const left = [...answers.values()].flat()
  return {
    problems: [...found, ...steps].filter(({ problem }) => problem !== undefined),
    unknown,
    unmadeWrites: left.filter(({ method, url }) => method !== 'GET' && !/InvokeCommand|oauth2/.test(url)),
    steps: steps.length,
  }
}
