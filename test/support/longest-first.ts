import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take 15 s or more, most of it waiting: begun last, they would keep one worker busy and the others idle. */
const longest = [
  'bench',
  'troubles-database',
  'troubles-worker',
  'crash-random',
  'put-off-jobs',
  'completion',
  'access-matrix-chat',
  'openapi-examples',
  'integrator-docs',
  'browser-approvals',
  'cards-literal',
  'crash-safety',
  'durable-jobs',
  'work-tried-again',
  'webhook-log',
  'database-away',
  'browser-mailbox',
  'rest-waiting',
  'stop-in-order',
  'token-floods',
  'docs-examples',
  'replicas-take-over',
  'sign-in',
  'access-matrix-rest',
  'reaching-approvers',
  'admin-webhooks',
]
const place = ({ moduleId }: TestSpecification): number => {
  const index = longest.indexOf(basename(moduleId, '.test.ts'))
  return index < 0 ? longest.length : index
}

/** The order of the files of a run: also where no earlier run has left their times, as after a clone. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}
