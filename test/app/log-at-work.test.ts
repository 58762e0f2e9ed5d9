import { randomBytes, randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { textOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { opens } from '../support/site-request.ts'
import { until } from '../support/until.ts'

const info = 30
/** A text that occurs nowhere else. */
const canary = (what: string): string => `Canary${what}${randomBytes(6).toString('hex')}`

describe('the log of a running service', () => {
  const lines: (Record<string, unknown> & { readonly level: number })[] = []
  const service = withService({ LOG_LEVEL: 'debug' }, () => ({
    writeLog: (line) => void lines.push(JSON.parse(line)),
  }))
  beforeEach(() => void lines.splice(0))

  /** Returns the lines of turns and requests so far at `info` and above, without lines of jobs. */
  const linesOfService = () => lines.filter(({ level, job }) => level >= info && job === undefined)
  const turns = () => linesOfService().filter(({ kind }) => kind !== undefined)
  const oneTurn = async (act: () => Promise<unknown>) => {
    lines.splice(0)
    await act()
    await until(() => turns()[0], 'the line of the turn')
    expect(linesOfService()).toHaveLength(1)
    return turns()[0]
  }
  const oneRequest = async (...call: Parameters<typeof service.rest>) => {
    lines.splice(0)
    await service.rest(...call)
    await until(() => linesOfService()[0], 'the line of the request')
    expect(linesOfService()).toHaveLength(1)
    return linesOfService()[0]
  }

  it('has one line for each turn with any outcome, with the person’s id only', async () => {
    const { kim } = service
    const who = { personId: kim.id, traceId: expect.stringMatching(/^[0-9a-f]{32}$/), milliseconds: expect.any(Number) }
    expect(await oneTurn(() => kim.installs())).toMatchObject({ ...who, kind: 'install', outcome: 'done' })
    expect(await oneTurn(() => kim.says('HELP'))).toMatchObject({ ...who, kind: 'message', what: 'help' })
    expect(await oneTurn(() => kim.says('status REQ-9'))).toMatchObject({ ...who, what: 'status', outcome: 'refused' })
    expect(await oneTurn(() => kim.says('do my laundry'))).toMatchObject({ ...who, what: 'unknown', outcome: 'done' })
    expect(await oneTurn(() => kim.says('admin queue'))).toMatchObject({ what: 'admin queue', outcome: 'refused' })
    const bad = { requestId: 'x' }
    expect(await oneTurn(() => kim.invokes('1', 'request.cancel', bad))).toMatchObject({
      kind: 'click',
      what: 'request.cancel',
      outcome: 'refused',
    })
    expect(await oneTurn(() => kim.invokes('1', 'rm -rf', {}))).toMatchObject({
      kind: 'click',
      what: 'unknown',
      outcome: 'refused',
    })
    const repeated = kim.activity({ type: 'message', id: randomUUID(), text: 'help' })
    await oneTurn(() => kim.post(repeated))
    expect(await oneTurn(() => kim.post(repeated))).toMatchObject({ what: 'unknown', outcome: 'repeated' })
    const typing = kim.activity({ type: 'typing' })
    expect(await oneTurn(() => kim.post(typing))).toMatchObject({ kind: 'other', what: 'none', outcome: 'ignored' })
    const group = { conversation: { id: 'g', conversationType: 'groupChat', isGroup: true } }
    expect(await oneTurn(() => kim.post(kim.activity({ type: 'message', text: 'hi', ...group })))).toMatchObject({
      outcome: 'refused',
    })
  })

  it('has one line for a turn whose answer the chat refuses, with the outcome failed', async () => {
    const { kim, connector } = service
    const failed = async () =>
      (await (await fetch(`${service.app.url}/metrics`)).text()).match(
        /turns_total\{[^}]*what="help",outcome="failed"\} 1/,
      )
    connector.fail({ method: 'POST', how: 400, count: 9 })
    expect(await oneTurn(() => kim.post(kim.activity({ type: 'message', text: 'help' })))).toMatchObject({
      ...{ kind: 'message', what: 'help', outcome: 'failed', personId: kim.id, level: 50 },
      ...{ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), err: { message: expect.any(String) } },
    })
    connector.healthy()
    expect(await failed()).not.toBeNull()
  })

  it('has one line for each request, with the pattern of its address and its ids', async () => {
    const id = randomUUID()
    const who = { personId: service.kim.id, traceId: expect.stringMatching(/^[0-9a-f]{32}$/), msg: 'a call completed' }
    const read = await oneRequest('kim', 'GET', `/requests/v1/${id}`)
    expect(read).toMatchObject({ ...who, route: '/requests/v1/:requestId', requestId: id, status: 404, method: 'GET' })
    expect(read?.['callId']).toMatch(/^[0-9a-f-]{36}$/)
    expect(await oneRequest('kim', 'GET', '/requests/v1/Kim%20Lee')).toMatchObject({ ...who, status: 404 })
    expect(await oneRequest('kim', 'POST', '/collab/v1/spo/', 'no JSON')).toMatchObject({ ...who, status: 400 })
    const nowhere = await oneRequest('kim', 'GET', `/${canary('path')}?q=${canary('query')}`)
    expect(nowhere).toMatchObject({ route: 'none', status: 404 })
    expect(nowhere).not.toHaveProperty('path')
    lines.splice(0)
    await fetch(`${service.app.url}/api/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    await until(() => linesOfService()[0], 'the line of what is no activity')
    expect(linesOfService()).toMatchObject([{ msg: 'an activity was refused', level: 40 }])
  })

  it('has no typed text and no names above debug', async () => {
    const { kim, dana } = service
    const typed = Object.fromEntries(
      ['title', 'why', 'chat', 'comment', 'description', 'tag', 'reject', 'name', 'field', 'path', 'header'].map(
        (what) => [what, canary(what)],
      ),
    ) as Record<
      'title' | 'why' | 'chat' | 'comment' | 'description' | 'tag' | 'reject' | 'name' | 'field' | 'path' | 'header',
      string
    >
    await dana.installs()
    await kim.says(typed.chat)
    await kim.says(`status ${typed.chat}`)
    await kim.says(`delegate ${typed.name} until friday`)
    await kim.post(
      kim.activity({ type: 'message', text: 'help', from: { id: '29:k', name: typed.name, aadObjectId: kim.id } }),
    )
    const choose = await opens(kim, 'site')
    const form = await kim.clicks(choose, 'Choose Project site')
    const filled = {
      displayName: typed.title,
      'metadata.costCentre': typed.field,
      'metadata.audience': 'internal',
      reason: typed.why,
    }
    const back = await kim.clicks({ id: choose.id, card: form.card }, 'Review', filled)
    const review = await kim.clicks({ id: choose.id, card: back.card }, 'Review', {
      ...filled,
      'metadata.costCentre': '4711',
      description: typed.description,
    })
    await kim.clicks({ id: choose.id, card: review.card }, 'Send')
    await dana.clicks(await dana.sees(new RegExp(typed.title)), 'Approve', { comment: typed.comment })
    await kim.sees(/Your site is ready/)
    const body = {
      displayName: typed.title,
      tags: [typed.tag],
      description: typed.description,
      [typed.field]: typed.field,
    }
    await service.rest('kim', 'POST', '/collab/v1/spo/', body, {
      traceparent: typed.header,
      'idempotency-key': typed.header,
    })
    const submitted = await service.rest('kim', 'POST', '/collab/v1/spo/', {
      displayName: typed.name,
      templateId: templates.projectSite,
      metadata: { costCentre: '4711', audience: 'internal' },
    })
    await service.rest('dana', 'POST', `/requests/v1/${String(submitted.body['requestId'])}/reject`, {
      comment: typed.reject,
    })
    await service.rest('kim', 'GET', `/templates/v1/${typed.path}?status=${typed.path}`)
    // The tenant refuses with a text that quotes the input.
    await service.fault({ operation: 'graph.groups.upsert', kind: 'failBeforeCommit', status: 405 })
    const failing = await service.rest('kim', 'POST', '/collab/v1/spo/', {
      displayName: typed.tag,
      templateId: templates.workingGroup,
    })
    const failed = async () =>
      (await service.rest('kim', 'GET', `/requests/v1/${String(failing.body['requestId'])}`)).body['status'] ===
      'failed'
    await until(async () => (await failed()) || undefined, 'it to fail')
    await service.heal()
    expect(textOf((await kim.says('my requests')).card)).toContain(typed.title)

    const above = lines.filter(({ level }) => level >= info).map((line) => JSON.stringify(line))
    expect(above.length).toBeGreaterThan(15)
    for (const [what, word] of [
      ...Object.entries(typed),
      ...['Kim Lee', 'Dana Fox', '@contoso'].map((name) => [name, name]),
    ])
      expect(
        above.filter((line) => line.toLowerCase().includes(String(word).toLowerCase())),
        what,
      ).toEqual([])
  })
})
