import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take 15 s or more, most of it waiting. If they started last, one worker would be busy and the others idle.
 */
const longest = [
  'system/setup-resume',
  'system/bench',
  'system/troubles-database',
  'system/troubles-worker',
  'system/crash-random',
  'system/deferred-jobs',
  'system/browser-chat',
  'system/completion-times',
  'system/chat-access-matrix',
  'system/openapi-examples',
  'system/integrator-docs',
  'system/browser-approvals',
  'system/cards-literal-text',
  'system/crash-safety',
  'system/durable-jobs',
  'system/throttled-work',
  'system/webhook-log',
  'system/database-away',
  'system/prefer-wait',
  'system/graceful-stop',
  'system/token-floods',
  'system/docs-examples',
  'system/replicas-failover',
  'system/client-sign-in',
  'system/http-access-matrix',
  'system/app-install-approvers',
  'system/webhook-admin-chat',
]
const place = ({ moduleId }: TestSpecification): number => {
  const index = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
  return index < 0 ? longest.length : index
}

/** Orders the files of a run, also without the times of an earlier run, as in a new clone. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}
