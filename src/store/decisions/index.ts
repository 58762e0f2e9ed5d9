/** Joint decisions: one decision of an approver about several requests. */
import { z } from 'zod'
import { type JointDecisionStore, type JointReport, jointDecision, jointResult } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** How long a joint decision is kept after its last result, in days. The requests keep their decisions. */
const keptDays = 30
const jointResults = z.record(z.string(), jointResult)

export function createJointDecisionStore(database: Database): JointDecisionStore {
  const one = async (where: string, values: readonly unknown[]): Promise<JointReport | undefined> => {
    const { rows } = await database.query<{ body: unknown; results: unknown }>(
      `SELECT body, results FROM joint_decisions WHERE ${where} ORDER BY place DESC LIMIT 1`,
      values,
    )
    const [row] = rows
    return row && { decision: jointDecision.parse(row.body), results: jointResults.parse(row.results) }
  }
  return {
    async insert(decision) {
      const { rowCount } = await database.query(
        `INSERT INTO joint_decisions (decision_id, tenant_id, person_id, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT DO NOTHING`,
        [decision.decisionId, decision.tenantId, decision.personId, JSON.stringify(decision)],
      )
      return rowCount === 1
    },
    find: (decisionId) => one('decision_id = $1', [decisionId]),
    lastAbout: (personId, batchId, stage) =>
      one(`person_id = $1 AND body -> 'about' ->> 'batchId' = $2 AND body -> 'about' ->> 'stage' = $3`, [
        ...[personId, batchId, String(stage)],
      ]),
    async addResults(decisionId, results) {
      await database.query(
        'UPDATE joint_decisions SET results = results || $2::jsonb, updated_at = now() WHERE decision_id = $1',
        [decisionId, JSON.stringify(results)],
      )
    },
    async forgetOld(at) {
      const before = new Date(at.getTime() - keptDays * 86_400_000).toISOString()
      await database.query('DELETE FROM joint_decisions WHERE updated_at < $1', [before])
    },
  }
}
