import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Request } from '../../src/core/index.ts'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { actorOf, dana, kim, omar, withCore } from '../support/core.ts'
import { withTenant } from '../support/simulated-tenant.ts'

/** Number of mailboxes: `RESETS=200` in npm run test:resets; a few in the suite. */
const count = Number(process.env['RESETS'] ?? 24)
const seed = Number(process.env['RESETS_SEED'] ?? Date.now() % 1_000_000)
const random = mulberry32(seed)
const kinds = ['sharedMailbox', 'roomMailbox', 'equipmentMailbox'] as const
/** Runs after which a job counts as stuck: far more than the queue would allow. */
const maxRuns = 200

describe('mailboxes created over a connection that loses answers', () => {
  console.info(`resets: seed ${seed}, ${count} mailboxes (RESETS=200 RESETS_SEED=${seed} repeats more of it)`)
  const core = withCore()
  const contoso = withTenant({ exchangeSettleSeconds: 0.05, exchange: { recipientLagSeconds: 0.3 } })
  beforeAll(async () => {
    // A new mailbox is visible late: to cmdlets after a moment, in lists after a longer time.
  })

  it(
    `are created once and completely while 30 % of Exchange's answers are lost after the work was done`,
    async () => {
      const { tenant, directory } = contoso
      const provisioning = core.with({ tenant, directory })
      const templates = await Promise.all(kinds.map((kind) => core.template({ kind, name: kind })))
      await contoso.fault({ operation: 'exchange.*', kind: 'resetAfterCommit', share: 0.3, seed, count: undefined })

      /** Submits, and repeats when the directory's answer was lost, as a client would. */
      const submit = async (number: number, tries = 0): Promise<Request> => {
        const template = templates[number % templates.length]
        const body = {
          name: `lost-${number}`,
          displayName: `Lost answers ${number}`,
          templateId: template?.id,
          capacity: 1000 + number,
          department: 'Digital Workplace',
          permissions: { [dana.id]: 'FullAccess', [omar.id]: 'SendAs' },
        }
        const requestId = requestIds[number]
        return provisioning.submitMailbox(actorOf(kim), { body, requestId }).catch((error: unknown) => {
          if (tries < 20 && error instanceof Error && 'code' in error && error.code === 'unavailable')
            return submit(number, tries + 1)
          throw error
        })
      }
      /** Runs the job as the queue does, but without waits, until the request has ended. */
      const make = async ({ requestId, number }: Request): Promise<Request> => {
        for (let run = 0; run < maxRuns; run += 1) {
          const { signal } = new AbortController()
          const provision = () =>
            provisioning.system.provision(requestId, { lastAttempt: false, signal }).catch(ignoreRetryable)
          // A killed process may leave two jobs for one request, so every third request has two concurrent runners.
          await Promise.all(number % 3 === 0 ? [provision(), provision()] : [provision()])
          const now = await provisioning.readRequest(actorOf(kim), { requestId })
          if (now.status !== 'provisioning' && now.status !== 'queued') return now
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
        throw new Error(`${requestId} did not end`)
      }
      const requestIds = Array.from({ length: count }, uuid)
      const ended: Request[] = []
      const numbers = Array.from({ length: count }, (_, index) => index)
      const worker = async () => {
        for (let number = numbers.shift(); number !== undefined; number = numbers.shift())
          ended.push(await make(await submit(number)))
      }
      await Promise.all(Array.from({ length: 6 }, worker))
      await contoso.healthy()

      expect(ended.map(({ status, problem }) => problem ?? status)).toEqual(requestIds.map(() => 'succeeded'))
      // By then, lists show the last mailbox.
      await new Promise((resolve) => setTimeout(resolve, 400))
      const found = async (cmdlet: string, parameters = {}) =>
        rows.parse((await contoso.cmdlet(cmdlet, parameters)).body).value
      const made = (await found('Get-Mailbox')).filter(({ Name }) => Name?.startsWith('lost-'))
      expect(made.map(({ Name }) => Name).sort()).toEqual(requestIds.map((_, number) => `lost-${number}`).sort())
      expect(made.map(({ CustomAttribute15 }) => CustomAttribute15).sort()).toEqual([...requestIds].sort())
      const lost = (await contoso.calls()).filter(({ fault }) => fault === 'resetAfterCommit')
      expect(lost.some(({ operation }) => operation === 'exchange.new-mailbox')).toBe(true)
      for (const { Guid } of made) {
        const access = (await found('Get-MailboxPermission', { Identity: Guid })).filter(isOfPeople)
        expect(access.map(({ User }) => User)).toEqual([dana.userPrincipalName])
        const senders = (await found('Get-RecipientPermission', { Identity: Guid })).filter(isOfPeople)
        expect(senders.map(({ Trustee }) => Trustee)).toEqual([omar.userPrincipalName])
      }
    },
    30_000 + count * 1000,
  )
})

const text = z.string().optional()
const row = z.object({ Guid: text, Name: text, CustomAttribute15: text, User: text, Trustee: text })
const rows = z.object({ value: z.array(row) })
const isOfPeople = ({ User, Trustee }: z.output<typeof row>): boolean => !/^NT AUTHORITY/.test(User ?? Trustee ?? '')

function ignoreRetryable(error: unknown): void {
  if (!(error instanceof Error && 'retryable' in error && error.retryable === true)) throw error
}

/** Creates an id from the seed, so that a run can be repeated. */
function uuid(): string {
  const hex = (length: number) => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('')
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`
}
