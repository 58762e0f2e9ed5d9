import { randomUUID } from 'node:crypto'
import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from 'node:fs'
import { adminsOf, asPerson, type SiteKind } from '../../core/index.ts'
import type { OpenInstallation } from './installation.ts'
import type { Recorder, Recording } from './recording.ts'
import { mark, markedName, markedPattern, runTrial, type TrialInput, type TrialStep } from './trial.ts'

/** The name of the schema extension in every recording. */
const extension = 'ext00000000_checked'
/** Matches our own names in recordings: of the resources of a trial, and of the extension. */
export const keptWords = new RegExp(`^(?:${markedPattern}|${mark}|SPO-${mark}|${mark}\\*|${extension})$`, 'i')

/** How long a step of a trial may take. Seconds. */
const patienceSeconds = 900

interface Trial {
  readonly input: TrialInput
  readonly steps: readonly TrialStep[]
}

/** Creates and removes a marked site and a marked mailbox. The first admin owns the site. */
export async function tryWriting(
  { context, microsoft365 }: OpenInstallation,
  siteKind: SiteKind,
  { show, signal }: { readonly show: (step: TrialStep) => void; readonly signal: AbortSignal },
): Promise<Trial> {
  const { directory, tenant } = context.ports
  const [owner] = await adminsOf({ directory }, context.settings)
  if (!owner)
    throw new Error(
      'ADMINS has no person who can own the site. Add the object id of a person, or of a group with members.',
    )
  const { default: domain } = await directory.mailDomains()
  const input: TrialInput = {
    ...{ name: markedName(new Date()), siteKind, person: asPerson(owner), domain },
    ...{ siteRequestId: randomUUID(), mailboxRequestId: randomUUID() },
  }
  const steps = await runTrial(input, {
    ...{ tenant, removals: microsoft365.removals, show, signal, patienceSeconds },
    findGroup: (requestId) => directory.findProvisionedGroup(requestId),
  })
  return { input, steps }
}

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
