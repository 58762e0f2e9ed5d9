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

describe('a site request in chat', () => {
  const service = withService()

  it('leads from a command through an approval to a card with the URL', async () => {
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

    const approval = await dana.sees(/Your decision, please/)
    expect(textOf(approval.card)).toContain('Four companies need one place for drawings.')
    const decided = await dana.clicks(approval, 'Approve', { comment: 'Go ahead' })
    expect(textOf(decided.card ?? {})).toMatch(/Approved by you/)

    const ready = await kim.sees(/Your site is ready/)
    expect(action(ready.card, 'Open site').url).toMatch(/\/sites\/project-aurora$/)
    const status = await until(
      () => kim.chat().find((one) => one.id === choose.id && textOf(one.card ?? {}).includes('Finished, see below')),
      'the status card to shrink to one line',
    )
    expect(actionsOf(status.card ?? {})).toEqual([])
    expect(connector.sent.filter(({ card }) => card && textOf(card).includes('Your site is ready'))).toHaveLength(1)
    expect(connector.unexpected).toEqual([])
  })

  it('is explained by why with its number or as the newest request, but not to other people', async () => {
    const { kim, omar, sam } = service
    const status = await kim.says('status')
    const [reference = ''] = /REQ-\d+/.exec(textOf(status.card)) ?? []
    for (const command of [`why ${reference}`, `WHY ${reference}?`, 'why', 'why?']) {
      const text = textOf((await kim.says(command)).card)
      expect(text).toContain('Dana Fox gave approval 1')
      expect(text).toContain('Approval 1 went to Dana Fox and Omar Haddad')
      expect(text).toContain('The address is project-aurora.')
    }
    expect(textOf((await sam.says(`why ${reference}`)).card)).toContain('The request names no address')
    expect(textOf((await omar.says('why')).card)).toContain('You have not requested anything yet.')
    expect(textOf((await kim.says('why is it so slow')).card)).toContain('why REQ-1042')
  })

  it('keeps the typed values after a mistake, and shows each mistake at its field', async () => {
    const { kim } = service
    const choose = await opens(kim, 'site')
    const form = await kim.clicks(choose, 'Choose Project site')
    const back = await kim.clicks({ id: choose.id, card: form.card }, 'Review', {
      ...filled,
      alias: 'project-aurora',
      'metadata.costCentre': '47',
    })
    expect(textOf(back.card ?? {})).toContain('2 things to fix')
    expect(textOf(back.card ?? {})).toMatch(/Your request REQ-\d+ has this address\. Try project-aurora-2\./)
    expect(textOf(back.card ?? {})).toContain('A cost centre has four digits, such as 4711.')
    expect(valuesOf(back.card ?? {})).toMatchObject({ ...filled, alias: 'project-aurora', 'metadata.costCentre': '47' })
  })

  it('treats an input that the client omits as emptied', async () => {
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

  it('creates one request for several clicks on Create', async () => {
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

  it('survives a restart while the form is open', async () => {
    const { kim } = service
    const choose = await opens(kim, 'working')
    await service.restart()
    const review = await kim.clicks(choose, 'Review', { displayName: 'After the restart' })
    expect(textOf(review.card ?? {})).toContain('After the restart')
    expect(templates.workingGroup).toBeDefined()
  })
})
