import { afterEach, describe, expect, it } from 'vitest'
import { action, actionsOf, textOf, valuesOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { asksFor, cardOf, decisionAbout, filled, opens, readsAfter, reviews, subject } from '../support/site-request.ts'

/** Microsoft Graph, or a part of it, answers 503 until the test heals the tenant. */
const away = (operation: string) => ({ operation, kind: 'failBeforeCommit', status: 503, count: 1000 })

describe('a failure during a click', () => {
  const service = withService()
  const sql = (statement: string) => service.app.database.query(statement)
  const shownAt = (id: string) => service.connector.activity(id)?.card
  afterEach(async () => {
    service.connector.healthy()
    await service.heal()
  })

  it('in the directory during a review: the form returns with its values and reports it', async () => {
    const { kim } = service
    const form = await opens(kim)
    await service.fault(away('graph.groups.*'))
    const back = cardOf(await kim.clicks(form, 'Review', { ...filled, displayName: 'Typed for nothing?' }))
    expect(textOf(back)).toContain('The directory does not answer. Try again in a minute.')
    expect(textOf(back)).toContain('Your answers are saved.')
    expect(valuesOf(back)).toMatchObject({ ...filled, displayName: 'Typed for nothing?' })
    expect(subject(back, 'Review').version).toBe((subject(form.card, 'Review').version ?? 0) + 1)
    expect(valuesOf(shownAt(form.id) ?? {})).toMatchObject({ displayName: 'Typed for nothing?' })
    await service.heal()
    expect(textOf(cardOf(await kim.clicks({ id: form.id, card: back }, 'Review')))).toContain('Is this right?')
  })

  it('in the directory during the identification: a message appears, and the card stays', async () => {
    const { kim } = service
    const form = await opens(kim)
    const before = shownAt(form.id)
    await service.restart()
    await service.fault(away('graph.*'))
    const answer = await kim.clicks(form, 'Review', { ...filled, displayName: 'Still in the form' })
    expect(answer.card).toBeUndefined()
    expect(answer.text).toContain('Your entries are still here')
    expect(shownAt(form.id)).toEqual(before)
    await service.heal()
    expect(readsAfter(await kim.clicks(form, 'Review', { ...filled, displayName: 'Still in the form' }))).toContain(
      'Still in the form',
    )
  })

  it('in the directory during the submission: Retry submits the request', async () => {
    const { kim } = service
    const review = await reviews(kim, { displayName: 'Sent at last' })
    await service.fault(away('graph.groups.*'))
    const notice = cardOf(await kim.clicks(review, 'Send'))
    expect(textOf(notice)).toContain('Nothing is lost.')
    expect(action(notice, 'Retry')).toMatchObject({ verb: 'request.submit', data: subject(review.card, 'Send') })
    await service.heal()
    expect(readsAfter(await kim.clicks({ id: review.id, card: notice }, 'Retry'))).toContain('Waiting for approval')
  })

  it('because of too many open requests: the reviewed form can be sent later', async () => {
    const { kim } = service
    const { requestId } = await asksFor(kim, { displayName: 'One of many' })
    const review = await reviews(kim, { displayName: 'One too many' })
    await service.restart({ OPEN_REQUESTS_PER_PERSON: '1' })
    const notice = cardOf(await kim.clicks(review, 'Send'))
    expect(textOf(notice)).toContain('Too many open requests')
    await service.restart()
    await kim.invokes('no-activity', 'request.cancel', { requestId, confirmed: true })
    expect(readsAfter(await kim.clicks({ id: review.id, card: notice }, 'Retry'))).toContain('Waiting for approval')
  })

  it.each([
    ['drafts', 'request.review'],
    ['inbox', 'request.review'],
    ['bot_state', 'request.review'],
  ])('in the table %s: a message with a trace id appears, the card stays, and a later click works', async (table) => {
    const { kim } = service
    const form = await opens(kim)
    const before = shownAt(form.id)
    await sql(`ALTER TABLE ${table} RENAME TO ${table}_away`)
    const answer = await kim.clicks(form, 'Review', { ...filled, displayName: `Without ${table}` })
    await sql(`ALTER TABLE ${table}_away RENAME TO ${table}`)
    expect(answer.card).toBeUndefined()
    expect(answer.text).toMatch(/Your entries are still here: please try again\..* [0-9a-f]{32}$/)
    expect(shownAt(form.id)).toEqual(before)
    const later = await kim.clicks(form, 'Review', { ...filled, displayName: `Without ${table}` })
    expect(readsAfter(later)).toContain(`Without ${table}`)
  })

  it('in the store during a decision: nothing is decided, and the next click decides', async () => {
    const { kim, dana } = service
    await dana.installs()
    const { requestId } = await asksFor(kim, { displayName: 'Decided later' })
    const decision = await decisionAbout(dana, 'Decided later')
    await sql('ALTER TABLE audit_log RENAME TO audit_log_away')
    const answer = await dana.clicks(decision, 'Approve', { comment: 'yes' })
    await sql('ALTER TABLE audit_log_away RENAME TO audit_log')
    expect(answer.text).toContain('nothing has changed')
    const { rows } = await sql(`SELECT status FROM requests WHERE request_id = '${requestId}'`)
    expect(rows).toEqual([{ status: 'pendingApproval' }])
    expect(readsAfter(await dana.clicks(decision, 'Approve', { comment: 'yes' }))).toContain('Approved by you')
  })

  it('in the chat, which refuses the new card: the click is still completed and answered', async () => {
    const { kim } = service
    const review = await reviews(kim, { displayName: 'Answered in place' })
    service.connector.fail({ method: 'PUT', how: 500, count: 1 })
    expect(readsAfter(await kim.clicks(review, 'Send'))).toContain('Waiting for approval')
  })

  it('after the template was disabled, or got another required field', async () => {
    const { kim } = service
    const path = `/templates/v1/${templates.workingGroup}`
    const { body, headers } = await service.rest('sam', 'GET', path)
    const put = async (change: object, tag: string | null) => {
      const answer = await service.rest(
        'sam',
        'PUT',
        path,
        { ...(body as object), ...change },
        { 'if-match': tag ?? '' },
      )
      expect(answer.status).toBe(200)
      return answer.headers.get('etag')
    }
    const form = await opens(kim, 'working')
    const review = await reviews(kim, { displayName: 'Reviewed before' }, 'working')
    const gone = await put({ active: false }, headers.get('etag'))
    const kept = await kim.clicks(form, 'Review', { displayName: 'No template' })
    expect(kept.card).toBeUndefined()
    expect(kept.text).toContain('This template is not available to you now. Your entries are still here.')
    const answer = await kim.clicks(review, 'Create')
    expect(readsAfter(answer)).toContain('This template is no longer available')
    expect(actionsOf(cardOf(answer)).map(({ title }) => title)).toContain('New request')
    const field = { key: 'team', type: 'text', label: 'Team number', required: true, pattern: '\\d+' }
    await put({ active: true, fields: [field] }, gone)
    const back = cardOf(await kim.clicks(review, 'Create'))
    expect(textOf(back)).toContain('One thing to fix')
    expect(textOf(back)).toContain('Team number')
    expect(valuesOf(back)).toMatchObject({ displayName: 'Reviewed before' })
    const fixed = cardOf(await kim.clicks({ id: review.id, card: back }, 'Review', { 'metadata.team': '7' }))
    expect(textOf(fixed)).toContain('Is this right?')
  })

  it('because the name was taken after the review: the form returns with its values and a suggestion', async () => {
    const { kim } = service
    const review = await reviews(kim, { displayName: 'Wanted by two', alias: 'wanted-by-two' })
    const other = { templateId: templates.newsSite, displayName: 'Faster', alias: 'wanted-by-two' }
    expect((await service.rest('dana', 'POST', '/collab/v1/spo/', other)).status).toBe(202)
    const back = cardOf(await kim.clicks(review, 'Send'))
    expect(textOf(back)).toContain('This address is taken. Try wanted-by-two-2.')
    expect(valuesOf(back)).toMatchObject({ ...filled, displayName: 'Wanted by two', alias: 'wanted-by-two' })
  })
})
