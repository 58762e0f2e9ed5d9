import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { OwnHealthReader } from '../core/index.ts'
import type { Queue } from '../jobs/index.ts'
import type { Database, Stores } from '../store/index.ts'

/** The state of the queue while the store does not answer. */
const unknownQueue = { waiting: 0, oldestSeconds: 0 }

/**
 * Creates the reader of the service's own health, for admins. `startedAt`: the start of this process; `writtenAt`: the last
 * write to its store.
 */
export function ownHealthOf(
  database: Database,
  queue: Queue,
  { version, startedAt, now, writtenAt }: { version: string; startedAt: Date; now: () => Date; writtenAt: () => Date },
): OwnHealthReader {
  let pingedAt = startedAt
  return {
    async read() {
      const at = now()
      const databaseMilliseconds = await database.ping().catch(() => null)
      if (databaseMilliseconds !== null) pingedAt = at
      const databaseSeenAt = new Date(Math.max(pingedAt.getTime(), writtenAt().getTime()))
      const { waiting, oldestSeconds } = await queue.state().catch(() => unknownQueue)
      const watchedAt = await queue.lastDone('watchdog').catch(() => null)
      const measured = { databaseMilliseconds, databaseSeenAt, queue: { waiting, oldestSeconds } }
      return { ...measured, watchedAt, version, startedAt }
    },
  }
}

/** The message for operators in the log and at /readyz if the store has no templates. */
export const noTemplates =
  'There are no templates, so nobody can request anything. Add a template as an admin in the chat: type admin templates add. Or set TEMPLATES_FILE to a JSON list of templates and restart, or send PUT /templates/v1/{id} as an admin (docs/templates.md).'

/**
 * Checks whether this process is ready: its store answers and accepts writes, and it works on its queue. A service without
 * templates is ready, because admins add templates through it.
 */
export async function readiness(
  database: Database,
  queue: Queue,
  hasTemplates: () => Promise<boolean>,
): Promise<{ ok: boolean; checks: Record<string, string> }> {
  const answers = await database.ping().then(
    () => true,
    () => false,
  )
  const works = queue.isWorking()
  const isEmpty = answers && !(await hasTemplates().catch(() => true))
  const checks = {
    ...(isEmpty && { templates: noTemplates }),
    database: answers ? 'answers' : 'does not answer',
    queue: works ? 'is running' : 'is not running',
  }
  return { ok: answers && works, checks }
}

/** Returns a check whether the store has templates. The first yes is cached, because templates are never deleted. */
export function templatesIn({ templates }: Pick<Stores, 'templates'>, tenantId: string): () => Promise<boolean> {
  let has = false
  return async () => {
    has ||= (await templates.list(tenantId)).length > 0
    return has
  }
}

/** Returns the version of the running service. */
export async function ownVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version
}
