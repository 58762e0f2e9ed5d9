import { expect, it } from 'vitest'
import { withService } from '../support/service.ts'

const service = withService()

it('the health of a service whose embedded store has ended is told to admins', async () => {
  expect((await service.rest('sam', 'GET', '/admin/v1/health')).status).toBe(200)
  const { database } = service.app
  await database.close()
  // It has ended already when the service does.
  Object.assign(database, { close: async () => undefined })
  const { status, body } = await service.rest('sam', 'GET', '/admin/v1/health')
  expect(status).toBe(200)
  const { parts } = body as unknown as { parts: { name: string; state: string }[] }
  expect(parts[0]).toMatchObject({ name: 'database', state: 'red' })
  expect(parts.map(({ name }) => name)).not.toContain('queue')
  expect((await service.rest('kim', 'GET', '/admin/v1/health')).status).toBe(403)
})
