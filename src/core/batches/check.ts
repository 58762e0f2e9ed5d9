import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  type Evaluation,
  evaluate,
  type FieldWarning,
  fieldWarnings,
  isForMailboxPlan,
  namesOfPlan,
  type Plan,
  refuseSitesOfApplications,
  requestPreview,
  shownFieldWarning,
} from '../requests/index.ts'
import {
  because,
  type Context,
  defineUseCase,
  type Fault,
  originNow,
  ProvisioningError,
  resourceKind,
} from '../shared/index.ts'
import type { BatchPorts } from './batch.ts'
import { type BatchOrder, batchRows } from './order.ts'

/** The preview of a row. */
export const checkedRow = z.strictObject({
  key: z.string(),
  status: z.enum(['ok', 'refused']),
  kind: resourceKind.optional(),
  templateId: z.uuid().optional(),
  names: requestPreview.shape.names.unwrap().optional(),
  approvalRequired: z.boolean().optional(),
  warnings: z.array(shownFieldWarning).describe('The accepted fields of a mailbox without effect in Microsoft 365.'),
  errors: requestPreview.shape.errors,
})
export type CheckedRow = Omit<z.output<typeof checkedRow>, 'errors' | 'warnings'> & {
  readonly errors: readonly Fault[]
  readonly warnings: readonly FieldWarning[]
}

/** How many rows are checked at the same time: each calls the directory a few times. */
const together = 6

/**
 * The people with a dry run in this process. A dry run makes some hundred calls to the directory, so each person has
 * one at a time.
 */
export interface DryRuns {
  readonly dryRuns: Set<string>
}

/**
 * Evaluates each row as its submission would, without writing anything. Rows that need the same name, or a number of
 * the same counter, are evaluated again in order, each as if the rows before it were submitted. Stops when the caller has
 * disconnected, so that the next dry run of this person can start.
 */
async function dryRun(
  { ports, settings, actor }: Context<BatchPorts>,
  { resource, rows }: Pick<BatchOrder, 'resource' | 'rows'>,
): Promise<CheckedRow[]> {
  refuseSitesOfApplications(actor, resource)
  const earlier = earlierRows(ports)
  const evaluateRow = async ({ body, requestId }: { body: unknown; requestId: string }): Promise<Evaluated> => {
    originNow().abandoned?.throwIfAborted()
    const { ports: after, counted } = earlier.view()
    const inquiry = { settings, actor, requestId, isSubmission: false, crowded: false } as const
    return { requestId, counted, evaluation: await evaluate({ ...inquiry, ports: after }, resource, body) }
  }
  const drafts = rows.map(({ body }) => ({ body, requestId: randomUUID() }))
  const alone = await inParallel(drafts, together, evaluateRow)
  const checked: CheckedRow[] = []
  for (const [place, row] of rows.entries()) {
    const first = alone[place]
    const inquiry = drafts[place]
    if (!first || !inquiry) throw new Error(`row ${place} was not evaluated`)
    const found = earlier.affects(first) ? await evaluateRow(inquiry) : first
    earlier.add(found)
    checked.push(shown(row.key, found))
  }
  return checked
}

/**
 * Checks a batch without writing anything. Throws `too-many-open-requests` while a dry run of the actor is under way.
 */
export const checkBatch = defineUseCase({
  permission: 'request.create',
  input: z.object(batchRows),
  async handle(context: Context<BatchPorts & DryRuns>, order): Promise<CheckedRow[]> {
    const { ports, actor } = context
    if (ports.dryRuns.has(actor.id)) throw new ProvisioningError('too-many-open-requests', because('dryRunUnderWay'))
    ports.dryRuns.add(actor.id)
    try {
      return await dryRun(context, order)
    } finally {
      ports.dryRuns.delete(actor.id)
    }
  },
})

interface Evaluated {
  readonly requestId: string
  readonly evaluation: Evaluation
  /** The counters of names that the evaluation read, each with its last number. */
  readonly counted: ReadonlyMap<string, number>
}

/** Collects the names and numbers of earlier rows. `view` returns ports that answer as if these rows were submitted. */
function earlierRows(ports: BatchPorts) {
  const names = new Map<string, string>()
  const numbers = new Map<string, number>()
  const created = new Map<string, number>()

  const view = (): { ports: BatchPorts; counted: Map<string, number> } => {
    const counted = new Map<string, number>()
    const { reservations, nameCounters, requests } = ports
    const after: BatchPorts = {
      ...ports,
      reservations: {
        ...reservations,
        holder: async (tenantId, name) => names.get(name) ?? reservations.holder(tenantId, name),
      },
      nameCounters: {
        ...nameCounters,
        async last(tenantId, scope) {
          const last = Math.max(numbers.get(scope) ?? 0, await nameCounters.last(tenantId, scope))
          counted.set(scope, last)
          return last
        },
      },
      requests: {
        ...requests,
        // The limit of open requests of one person only delays a batch, so it refuses no row.
        countOfTemplate: async (query) =>
          query.requesterId === undefined
            ? Math.min(query.most, (await requests.countOfTemplate(query)) + (created.get(query.templateId) ?? 0))
            : 0,
      },
    }
    return { ports: after, counted }
  }
  return {
    view,
    affects: ({ evaluation, counted }: Evaluated): boolean =>
      [...counted.keys()].some((scope) => numbers.has(scope)) || (evaluation.ok && conflicts(evaluation.plan, names)),
    add({ evaluation, counted, requestId }: Evaluated): void {
      if (!evaluation.ok) return
      const { plan } = evaluation
      for (const { name } of plan.names) names.set(name, requestId)
      for (const [scope, last] of counted) numbers.set(scope, last + 1)
      created.set(plan.template.id, (created.get(plan.template.id) ?? 0) + 1)
    },
  }
}

const conflicts = ({ names, template }: Plan, taken: ReadonlyMap<string, string>): boolean =>
  template.quota.resources !== undefined || names.some(({ name }) => taken.has(name))

function shown(key: string, { evaluation, requestId }: Evaluated): CheckedRow {
  if (!evaluation.ok) return { key, status: 'refused', warnings: [], errors: evaluation.faults }
  const { plan } = evaluation
  const { kind, template, approvals } = plan
  const approvalRequired = approvals.length > 0
  const names = namesOfPlan(plan, requestId)
  const warnings = isForMailboxPlan(plan) ? fieldWarnings(plan) : []
  return { key, status: 'ok', kind, templateId: template.id, names, approvalRequired, warnings, errors: [] }
}

/** Runs work for each value, at most `most` at a time. Rejects with the first error. */
async function inParallel<T, R>(all: readonly T[], most: number, work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const left = all.entries()
  const worker = async (): Promise<void> => {
    for (const [place, one] of left) results[place] = await work(one)
  }
  await Promise.all(Array.from({ length: Math.min(most, all.length) }, worker))
  return results
}
