import { describe, expect, it } from 'vitest'
import type { Outbox } from '../../src/core/index.ts'
import { textOf } from '../support/cards.ts'
import { isShort } from '../support/journey.ts'
import { templates, withService } from '../support/service.ts'
import { opens } from '../support/site-request.ts'
import { until } from '../support/until.ts'

const metadata = { costCentre: '4711', audience: 'internal' }

describe('a proactive card', () => {
  const service = withService()

  async function ask(displayName: string): Promise<string> {
    const body = { displayName, templateId: templates.projectSite, metadata }
    const answer = await service.rest('kim', 'POST', '/collab/v1/spo/', body)
    expect(answer.status).toBe(202)
    return String(answer.body['requestId'])
  }
  const questions = (name: string) => service.connector.sent.filter(({ card }) => card && textOf(card).includes(name))
  const quiet = () =>
    until(async () => {
      const counts = (await service.app.queue.counts()).find(({ name }) => name === 'notify')
      return (counts && counts.waiting + counts.active === 0) || undefined
    }, 'the end of all sending')

  it('is sent once, although several jobs try', async () => {
    await service.kim.installs()
    const requestId = await ask('Several at it')
    let sent = 0
    const outbox: Outbox = {
      async send() {
        sent += 1
        await new Promise((resolve) => setTimeout(resolve, 50))
        return { state: 'sent', activityId: `activity-${sent}` }
      },
      update: () => Promise.reject(new Error('nobody expected an update')),
    }
    const order = { requestId, personId: service.kim.id, card: 'status' } as const
    await Promise.all([1, 2, 3, 4].map(() => service.app.core.system.deliverCard(outbox, order, 1)))
    expect(sent).toBe(1)
  })

  it('is sent once more, and not again, to a chat that accepts cards without an answer', async () => {
    const { connector, dana } = service
    await dana.installs()
    const name = 'Never says so'
    connector.fail({ method: 'POST', how: 'reset', count: 20, when: (sent) => JSON.stringify(sent).includes(name) })
    await ask(name)
    await until(() => questions(name)[1], 'the second card')
    await quiet()
    expect(questions(name)).toHaveLength(2)
    connector.healthy()
  })

  it('is sent when a chat that refused it accepts it again', async () => {
    const { connector, dana } = service
    await dana.installs()
    const name = 'Refused first'
    connector.fail({ method: 'POST', how: 503, count: 1, when: (sent) => JSON.stringify(sent).includes(name) })
    await ask(name)
    await until(() => questions(name)[0], 'the card')
    await quiet()
    expect(questions(name)).toHaveLength(1)
  })

  it('is updated when its chat accepts changes again', async () => {
    const { connector, kim } = service
    const name = 'Changed later'
    const choose = await opens(kim, 'working')
    const review = await kim.clicks(choose, 'Review', { displayName: name })
    await kim.clicks({ id: choose.id, card: review.card }, 'Create')
    const isLast = (sent: object) => JSON.stringify(sent).includes('Finished, see below')
    const fault = connector.fail({ method: 'PUT', how: 503, count: 2, when: isLast })
    await until(() => isShort(connector.activity(choose.id)), 'the status card to shrink to one line')
    expect(fault.count).toBe(0)
  })
})
