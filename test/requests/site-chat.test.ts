import { describe, expect, it } from 'vitest'
import { action, actionsOf, textOf, valuesOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { opens } from '../support/site-request.ts'
import { until } from '../support/until.ts'

const filled = {
  displayName: 'Project Aurora',
  'metadata.costCentre': '4711',
  'metadata.audience': 'internal',
  reason: 'Four companies need one place for drawings.',
}

describe('a site that is asked for in chat', () => {
  const service = withService()

  it('goes from a command to a card with its URL, over an approval', async () => {
    const { kim, dana, connector } = service
    await dana.installs()
    const choose = await opens(kim, 'site')
    const form = await kim.clicks(choose, 'Choose Project site')
    expect(form.status).toBe(200)
    const formCard = { id: choose.id, card: form.card }
    const review = await kim.clicks(formCard, 'Review', filled)
    expect(textOf(review.card ?? {})).toContain('Is this right?')
    expect(textOf(review.card ?? {})).toContain('Dana Fox or Omar Haddad')
    const sent = await kim.clicks({ id: choose.id, card: review.card }, 'Send')
    expect(textOf(sent.card ?? {})).toContain('Waiting for approval')

    const asked = await dana.sees(/Your decision, please/)
    expect(textOf(asked.card)).toContain('Four companies need one place for drawings.')
    const decided = await dana.clicks(asked, 'Approve', { comment: 'Go ahead' })
    expect(textOf(decided.card ?? {})).toMatch(/Approved by you/)

    const ready = await kim.sees(/Your site is ready/)
    expect(action(ready.card, 'Open site').url).toMatch(/\/sites\/project-aurora$/)
    const status = await until(
      () => kim.chat().find((one) => one.id === choose.id && textOf(one.card ?? {}).includes('All checks passed')),
      'the status card to be ready',
    )
    expect(actionsOf(status.card ?? {}).map(({ title }) => title)).toContain('Open site')
    expect(connector.sent.filter(({ card }) => card && textOf(card).includes('Your site is ready'))).toHaveLength(1)
    expect(connector.unexpected).toEqual([])
  })

  it('is explained to whoever asks why, by its number or as the newest, and to nobody else', async () => {
    const { kim, omar, sam } = service
    const status = await kim.says('status')
    const [reference = ''] = /REQ-\d+/.exec(textOf(status.card)) ?? []
    for (const words of [`why ${reference}`, `WHY ${reference}?`, 'why', 'why?']) {
      const text = textOf((await kim.says(words)).card)
      expect(text).toContain('Approval 1 was given by Dana Fox')
      expect(text).toContain('Asked for approval 1: Dana Fox and Omar Haddad')
      expect(text).toContain('The address is project-aurora.')
    }
    expect(textOf((await sam.says(`why ${reference}`)).card)).toContain('Nothing was typed for it')
    expect(textOf((await omar.says('why')).card)).toContain('You have not asked for anything yet.')
    expect(textOf((await kim.says('why is it so slow')).card)).toContain('why REQ-1042')
  })

  it('keeps what was typed when something is wrong, and names each mistake beside its field', async () => {
    const { kim } = service
    const choose = await opens(kim, 'site')
    const form = await kim.clicks(choose, 'Choose Project site')
    const back = await kim.clicks({ id: choose.id, card: form.card }, 'Review', {
      ...filled,
      alias: 'project-aurora',
      'metadata.costCentre': '47',
    })
    expect(textOf(back.card ?? {})).toContain('2 things to fix')
    expect(textOf(back.card ?? {})).toContain('This address is taken. Try project-aurora-2.')
    expect(textOf(back.card ?? {})).toContain('A cost centre has four digits, such as 4711.')
    expect(valuesOf(back.card ?? {})).toMatchObject({ ...filled, alias: 'project-aurora', 'metadata.costCentre': '47' })
  })

  it('takes an input that a client left out as emptied', async () => {
    const { kim } = service
    const choose = await opens(kim, 'working')
    const { data } = action(choose.card, 'Review')
    const wrong = { ...data, displayName: 'Emptied', alias: 'not an address!', description: 'Gone soon' }
    const back = await kim.invokes(choose.id, 'request.review', wrong)
    expect(textOf(back.card ?? {})).toContain('One thing to fix')
    const again = { ...action(back.card ?? {}, 'Review').data, displayName: 'Emptied' }
    const review = await kim.invokes(choose.id, 'request.review', again)
    expect(textOf(review.card ?? {})).toContain('/sites/wg-emptied')
    expect(textOf(review.card ?? {})).not.toContain('Gone soon')
  })

  it('is one request, however often Send is clicked', async () => {
    const { kim } = service
    const choose = await opens(kim, 'working')
    const review = await kim.clicks(choose, 'Review', { displayName: 'Twice' })
    const sends = await Promise.all([1, 2, 3].map(() => kim.clicks({ id: choose.id, card: review.card }, 'Create')))
    const references = sends.map(({ card }) => /REQ-\d+/.exec(textOf(card ?? {}))?.[0])
    expect(new Set(references).size).toBe(1)
    const { requests } = await service.app.core.listOwnRequests(
      await service.app.core.actor({ tenantId: service.app.endpoints.tenantId, id: kim.id }),
      { limit: 100 },
    )
    expect(requests.filter(({ details }) => details.displayName === 'Twice')).toHaveLength(1)
  })

  it('outlives a restart in the middle of the form', async () => {
    const { kim } = service
    const choose = await opens(kim, 'working')
    await service.restart()
    const review = await kim.clicks(choose, 'Review', { displayName: 'After the restart' })
    expect(textOf(review.card ?? {})).toContain('After the restart')
    expect(templates.workingGroup).toBeDefined()
  })
})
