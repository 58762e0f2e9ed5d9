import { expect, it } from 'vitest'
import { z } from 'zod'
import { withService } from '../support/service.ts'

const service = withService()

it('admins can read the health of a service whose embedded store has ended', async () => {
  expect((await service.rest('sam', 'GET', '/admin/v1/health')).status).toBe(200)
  const { database } = service.app
  await database.close()
  // The database has already ended when the service closes.
  Object.assign(database, { close: async () => undefined })
  const { status, body } = await service.rest('sam', 'GET', '/admin/v1/health')
  expect(status).toBe(200)
  const { parts } = z.object({ parts: z.array(z.object({ name: z.string(), state: z.string() })) }).parse(body)
  expect(parts[0]).toMatchObject({ name: 'database', state: 'red' })
  expect(parts.map(({ name }) => name)).not.toContain('queue')
  expect((await service.rest('kim', 'GET', '/admin/v1/health')).status).toBe(403)
})
