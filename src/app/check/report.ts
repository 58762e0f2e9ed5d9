import { z } from 'zod'
import { apiTexts } from '../../cards/index.ts'
import {
  type CheckContext,
  type HealthPart,
  healthState,
  type InstallationPorts,
  installationChecks,
  runCheck,
  shownHealthPart,
  worst,
} from '../../core/index.ts'

/** One part, as in `GET /admin/v1/health`, with its title. */
const reportedPart = shownHealthPart.extend({ title: z.string() })
export type ReportedPart = z.output<typeof reportedPart>

/** The output of `npm run check:tenant -- --json`. Its fields are a contract with scripts. */
export const checkReport = z.strictObject({
  state: healthState,
  at: z.iso.datetime(),
  version: z.string(),
  mode: z.enum(['local', 'production']),
  tenantId: z.uuid(),
  baseUrl: z.url(),
  parts: z.array(reportedPart),
  /** With `--write` only, unless a check failed. */
  trial: z
    .strictObject({
      name: z.string(),
      steps: z.array(
        z.strictObject({
          of: z.enum(['site', 'mailbox', 'cleanup']),
          name: z.string(),
          milliseconds: z.int(),
          problem: z.string().optional(),
        }),
      ),
      recording: z.string().optional(),
    })
    .optional(),
})
export type CheckReport = z.output<typeof checkReport>

export function reported(part: HealthPart): ReportedPart {
  const { says: _, problem, ...rest } = part
  const texts = { title: apiTexts.healthPartName(part.name), detail: apiTexts.healthPart(part) }
  return { ...rest, ...texts, ...(problem && { problem: apiTexts.reason(problem) }) }
}

/** Runs all checks at the same time, and shows each part in the order of the list as soon as possible. */
export async function runAll(
  context: CheckContext<InstallationPorts>,
  show: (part: ReportedPart) => void,
): Promise<ReportedPart[]> {
  const running = installationChecks.map((check) => runCheck(check, context))
  const all: ReportedPart[] = []
  for (const one of running) {
    for (const part of (await one).map(reported)) {
      all.push(part)
      show(part)
    }
  }
  return all
}

export const stateOf = (parts: readonly ReportedPart[]): HealthPart['state'] => worst(parts.map(({ state }) => state))
