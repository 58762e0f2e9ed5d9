import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, it } from 'vitest'
import { newHome, type RunOptions, runQuartermaster, signIn } from '../support/command-line.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

describe('the command line with a running service', () => {
  const service = withService()
  const homes = { kim: newHome(), dana: newHome() }
  type Who = keyof typeof homes
  const as = (who: Who, args: readonly string[], options: Partial<RunOptions> = {}) =>
    runQuartermaster(args, { home: homes[who], ...options })
  const json = async (who: Who, ...args: string[]) => {
    const { exit, printed, errorText } = await as(who, [...args, '--json'])
    expect(errorText).toBe('')
    return { exit, value: JSON.parse(printed) }
  }
  const nobody = newHome()
  beforeAll(async () => {
    for (const who of ['kim', 'dana'] as const) {
      const { exit, printed } = await signIn(homes[who], service.app.url, who)
      expect(printed).toBe(`Signed in as ${people[who].name} (${who}@contoso.example) at ${service.app.url}\n`)
      expect(exit).toBe(0)
    }
  })
  const withApproval = [
    '--template',
    'Project site',
    '--metadata',
    'costCentre=4711',
    '--metadata',
    'audience=internal',
  ]

  it('shows the signed-in person and the service', async () => {
    const { value } = await json('kim', 'whoami')
    expect(value).toMatchObject({ id: people.kim.id, displayName: 'Kim Lee', baseUrl: service.app.url })
    expect((await as('kim', ['whoami'])).printed).toContain('Kim Lee (kim@contoso.example)')
  })

  it('lists the templates', async () => {
    expect((await as('kim', ['templates'])).printed).toMatch(/Project site +team site +required +Files, lists/)
    const { value } = await json('kim', 'templates')
    expect(value.value.map(({ id }: { id: string }) => id)).toContain(templates.meetingRoom)
  })

  it('creates a site and follows the request until it is ready', async () => {
    const args = ['site', 'create', '--template', 'working group', '--display-name', 'Aurora', '--watch']
    const { exit, printed } = await as('kim', args)
    expect(exit).toBe(0)
    expect(printed).toMatch(/^REQ-\d+ Aurora {2}(provisioning|queued)$/m)
    expect(printed).toMatch(/✓ creating the site/)
    expect(printed).toMatch(/^Created at http:.*\/sites\/wg-aurora$/m)
  })

  it('shows a request to its approver, who approves it by reference', async () => {
    const sent = await json('kim', 'site', 'create', '--display-name', 'Borealis', ...withApproval)
    expect(sent.value).toMatchObject({ approvalRequired: true, status: 'pendingApproval' })
    const shown = await json('kim', 'request', 'show', sent.value.requestId)
    const { reference } = shown.value
    expect((await as('dana', ['request', 'show', reference])).printed).toContain(
      'Approval 1: waiting for Dana Fox, Omar Haddad',
    )
    const waits = await as('dana', ['request', 'list', '--waiting-for-me'])
    expect(waits.printed).toContain(`${reference}  pendingApproval  team site  Borealis`)
    const own = await as('kim', ['request', 'approve', reference])
    expect([own.exit, own.errorText]).toEqual([4, expect.stringMatching(/\S/)])
    const approved = await as('dana', ['request', 'approve', reference, '--comment', 'Go ahead'])
    expect(approved.printed).toContain('Approval 1: Dana Fox approved “Go ahead”')
    expect((await as('kim', ['request', 'watch', reference])).exit).toBe(0)
  })

  it('ends with 1 if the watched request is rejected, and shows the reason', async () => {
    const sent = await json('kim', 'site', 'create', '--display-name', 'Corona', ...withApproval)
    const watched = as('kim', ['request', 'watch', sent.value.requestId])
    expect((await as('dana', ['request', 'reject', sent.value.requestId])).exit).toBe(2)
    expect((await as('dana', ['request', 'reject', sent.value.requestId, '-m', 'Use Borealis'])).exit).toBe(0)
    expect(await watched).toMatchObject({ exit: 1, printed: expect.stringContaining('rejected') })
  })

  it('ends with 6 after the timeout, and cancels a request', async () => {
    const sent = await json('kim', 'site', 'create', '--display-name', 'Delta', ...withApproval)
    const watched = await as('kim', ['request', 'watch', sent.value.requestId, '--timeout', '0'])
    expect(watched).toMatchObject({ exit: 6, errorText: expect.stringContaining('is still in progress') })
    const cancelled = await json('kim', 'request', 'cancel', sent.value.requestId, '--comment', 'Too early')
    expect(cancelled.value.status).toBe('cancelled')
    expect((await as('kim', ['request', 'cancel', sent.value.requestId])).exit).toBe(4)
  })

  it('lists requests by status, and reports that more exist', async () => {
    const { value } = await json('kim', 'request', 'list', '--status', 'cancelled')
    expect(value).toMatchObject({ more: false, value: [{ status: 'cancelled' }] })
    const short = await as('kim', ['request', 'list', '--limit', '1'])
    expect(short.printed.trimEnd().split('\n')).toHaveLength(2)
    expect(short.errorText).toContain('Results shown: 1.')
  })

  it('creates a room from flags, from a file, and from standard input with flags', async () => {
    const flags = ['--display-name', 'Europa', '--metadata', 'seats=12', '--whiteboard', '--no-conference-phone']
    const byFlags = ['mailbox', 'create', '--template', 'Meeting room', '--name', 'europa', ...flags]
    const { value } = await json('kim', ...byFlags)
    const made = await json('kim', 'request', 'show', value.requestId)
    expect(made.value.details).toMatchObject({
      name: 'room-europa',
      roomMailboxMetadata: { hasWhiteboard: true, hasConferencePhone: false },
      metadata: { seats: '12' },
    })
    const body = {
      name: 'ganymede',
      displayName: 'Ganymede',
      templateId: templates.meetingRoom,
      metadata: { floor: '3' },
    }
    const path = join(homes.kim, 'room.json')
    writeFileSync(path, JSON.stringify(body))
    const byFile = ['mailbox', 'create', '--file', path, '--idempotency-key', 'ticket-1']
    const [first, again] = [await json('kim', ...byFile), await json('kim', ...byFile)]
    expect(again.value.requestId).toBe(first.value.requestId)
    const typed = ['mailbox', 'create', '--file', '-', '--name', 'callisto', '--metadata', 'wing=east', '--json']
    const byInput = await as('kim', typed, { input: JSON.stringify(body) })
    const shown = await json('kim', 'request', 'show', JSON.parse(byInput.printed).requestId)
    expect(shown.value.details).toMatchObject({ name: 'room-callisto', metadata: { floor: '3', wing: 'east' } })
  })

  it('previews a request without sending it, and names the fields with faults', async () => {
    const dry = await as('kim', ['site', 'create', '--display-name', 'Helios', ...withApproval, '--dry-run'])
    expect(dry.exit).toBe(0)
    expect(dry.printed).toContain('Preview: team site “Helios”')
    expect(dry.printed).toContain('Approval 1: Dana Fox, Omar Haddad')
    expect((await as('kim', ['request', 'list', '--limit', '100'])).printed).not.toContain('Helios')
    const wrong = [
      'site',
      'create',
      '--template',
      'Project site',
      '--display-name',
      'Io',
      '--metadata',
      'costCentre=47',
    ]
    const refused = await as('kim', wrong)
    expect(refused.exit).toBe(4)
    expect(refused.errorText).toContain('--metadata costCentre: A cost centre has four digits, such as 4711.')
    const { exit, errorText, printed } = await as('kim', [...wrong, '--json'])
    expect([exit, printed]).toEqual([4, ''])
    expect(JSON.parse(errorText).error).toMatchObject({ code: 'validation-failed', status: 422 })
    expect((await as('kim', [...wrong, '--dry-run'])).exit).toBe(4)
  })

  it('asks all questions at a terminal, repeats them for wrong answers, and sends the confirmed request', async () => {
    const answers: [RegExp, string[]][] = [
      [/Which template\?/, ['1']],
      [/Name that people see/, ['Jupiter']],
      [/Purpose/, ['']],
      [/Last part/, ['']],
      [/Other owners/, ['']],
      [/Cost centre/, ['12', '4711']],
      [/Who works in it/, ['9', '1']],
      [/Sensitivity label/, ['']],
      [/Send this request\?/, ['maybe', 'y']],
    ]
    const typing = (errorText: string) =>
      answers.find(([question]) => question.test(errorText.split('\n').at(-1) ?? ''))?.[1].shift()
    const { exit, printed, errorText } = await as('kim', ['site', 'create'], { typing })
    expect(errorText).toContain('> A cost centre has four digits, such as 4711.')
    expect(errorText).toContain('Enter a number from 1 to')
    expect(errorText).toContain('Preview: team site “Jupiter”')
    expect(printed).toContain('Request sent. It must be approved first.')
    expect(exit).toBe(0)
    expect(answers.flatMap(([, rest]) => rest)).toEqual([])
    expect((await json('kim', 'request', 'list', '--limit', '1')).value.value[0].details).toMatchObject({
      displayName: 'Jupiter',
      metadata: { costCentre: '4711', audience: 'internal' },
    })
  })

  it('accepts people by sign-in name, and discards a wrong answer', async () => {
    const answers: [RegExp, string[]][] = [
      [/Which template\?/, ['1']],
      [/Name that people see/, ['Hera']],
      [/Name before the @/, ['']],
      [/People who can open it/, ['nobody@contoso.example', 'hera', 'kim@contoso.example']],
      [/Reason for the request/, ['']],
      [/Send this request\?/, ['y']],
    ]
    const typing = (errorText: string) =>
      answers.find(([question]) => question.test(errorText.split('\n').at(-1) ?? ''))?.[1].shift()
    const { exit, errorText } = await as('kim', ['mailbox', 'create'], { typing })
    expect(errorText).toContain('nobody@contoso.example is not a person of this organisation.')
    expect(exit).toBe(0)
    const [{ details }] = (await json('kim', 'request', 'list', '--limit', '1')).value.value
    expect(details).toMatchObject({ displayName: 'Hera', permissions: { [people.kim.id]: 'FullAccess' } })
    expect(Object.keys(details.permissions)).toHaveLength(1)

    const flags = ['--template', 'Working group', '--display-name', 'Hestia', '--dry-run', '--owner']
    expect(await as('kim', ['site', 'create', ...flags, 'dana@contoso.example'])).toMatchObject({ exit: 0 })
    expect(await as('kim', ['site', 'create', ...flags, 'nobody@contoso.example'])).toMatchObject({ exit: 2 })
  })

  it('ends a question at the end of the input, and after a failed lookup', async () => {
    const atOnce = await as('kim', ['site', 'create'], { typing: () => '\u0004' })
    expect([atOnce.exit, atOnce.errorText]).toEqual([130, expect.stringContaining('Cancelled.')])
    const answers = new Map([
      ['Which template?', '1'],
      ['Name that people see', 'Hebe'],
      ['Name before the @', 'hebe'],
      ['People who can open it', 'kim@contoso.example'],
    ])
    const typing = (question: string) => {
      const known = [...answers].find(([label]) => question.includes(label))
      if (known) answers.delete(known[0])
      return known?.[1]
    }
    const refusing: typeof fetch = async (url, init) =>
      String(url).includes('/users')
        ? Response.json({ error: { code: 'InvalidAuthenticationToken', message: 'Sign in.' } }, { status: 401 })
        : fetch(url, init)
    const refused = await as('kim', ['mailbox', 'create'], { typing, fetch: refusing })
    expect([refused.exit, refused.errorText]).toEqual([3, expect.stringContaining('The directory answered 401')])
  })

  it('asks nothing again and names no flags if no answer can correct the fault', async () => {
    const answers = ['1', 'Io', 'io', 'kim@contoso.example', '']
    const full = { pointer: '#/templateId', code: 'quota-reached', detail: 'Shared mailbox has reached its limit.' }
    const refusing: typeof fetch = async (url, init) => {
      const answer = await fetch(url, init)
      if (!String(url).endsWith('/requests/v1/preview')) return answer
      return Response.json({ ...Object(await answer.json()), valid: false, errors: [full] })
    }
    const refused = await as('kim', ['mailbox', 'create'], { typing: () => answers.shift(), fetch: refusing })
    expect([refused.exit, refused.errorText]).toEqual([4, expect.stringContaining(full.detail)])
    expect(refused.errorText).not.toMatch(/flags|--/)
    expect(answers).toEqual([])
  })

  it('finds the group of a site in the directory, and reports a missing group', async () => {
    const sites = await json('kim', 'request', 'list', '--kind', 'teamSite', '--status', 'succeeded', '--limit', '1')
    const { requestId, resource } = sites.value.value[0]
    const found = await until(async () => {
      const { exit, printed } = await as('kim', ['request', 'group', requestId, '--json'])
      return exit === 0 ? JSON.parse(printed) : undefined
    }, 'the group')
    expect(found).toMatchObject({ id: resource.securityGroupId, url: resource.url })
    const waiting = await json('kim', 'request', 'list', '--status', 'pendingApproval', '--limit', '1')
    expect((await as('kim', ['request', 'group', waiting.value.value[0].reference])).exit).toBe(4)
  })

  it('prints webhooks with a valid signature, and refuses others', async () => {
    const secret = `whsec_${Buffer.from('thirty-two bytes that are a key!').toString('base64')}`
    const variables = { QUARTERMASTER_WEBHOOK_SECRET: secret }
    let address = ''
    const notes: string[] = []
    const listening = runListening(
      ['webhook', 'listen', '--port', '0', '--count', '1', '--json'],
      variables,
      (text) => {
        notes.push(text)
        address ||= /Listening at (\S+)/.exec(text)?.[1] ?? ''
      },
    )
    const to = await until(() => address || undefined, 'an address')
    const body = JSON.stringify({
      type: 'site.provisioned',
      timestamp: new Date().toISOString(),
      requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      data: { url: 'https://contoso.sharepoint.com/sites/apollo' },
    })
    const at = new Date()
    const headers = (signature: string) => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': signature,
    })
    const forged = await fetch(to, { method: 'POST', body, headers: headers('v1,bm9ib2R5') })
    expect(forged.status).toBe(401)
    expect((await fetch(to)).status).toBe(405)
    const good = await fetch(to, {
      method: 'POST',
      body,
      headers: headers(new Webhook(secret).sign('msg_1', at, body)),
    })
    expect(good.status).toBe(204)
    const { exit, printed } = await listening
    expect(exit).toBe(0)
    expect(JSON.parse(printed)).toMatchObject({ type: 'site.provisioned', id: 'msg_1' })
    expect(notes.join('')).toContain('Rejected: The webhook is not signed with this secret.')
    expect(notes.join('')).not.toContain(secret)
  })
  async function runListening(args: string[], variables: Record<string, string>, hear: (text: string) => void) {
    // Only the output shows the port, so the test reads the output as it arrives.
    const { startQuartermaster } = await import('../support/command-line.ts')
    const running = startQuartermaster(args, nobody, variables)
    running.child.stderr?.on('data', (data) => hear(String(data)))
    return running.ended
  }

  it('logs its calls with --verbose, but no token', async () => {
    const { errorText, printed } = await as('kim', ['request', 'list', '--verbose'])
    expect(errorText).toMatch(/^GET http:\S+\/requests\/v1\/\?limit=20 → 200$/m)
    expect(errorText + printed).not.toMatch(/eyJ[\w-]{10}|Bearer/i)
  })

  it('uses different exit codes for a missing sign-in and a missing answer', async () => {
    const none = await as('kim', ['whoami'], { home: nobody })
    expect(none).toMatchObject({ exit: 3, errorText: expect.stringContaining('quartermaster login') })
    const nowhere = { QUARTERMASTER_BASE_URL: 'http://127.0.0.1:1' }
    expect((await as('kim', ['request', 'list'], { variables: nowhere })).exit).toBe(3)
    const broken: typeof fetch = async () => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })
    }
    const args = ['request', 'show', '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11', '--json']
    const stopped = new AbortController()
    const interrupted = as('kim', args, { fetch: broken, signal: stopped.signal })
    stopped.abort()
    expect((await interrupted).exit).toBe(130)
    const page: typeof fetch = async () =>
      new Response('<html>Welcome</html>', { headers: { 'content-type': 'text/html' } })
    const foreign = await as('kim', args, { fetch: page })
    expect([foreign.exit, JSON.parse(foreign.errorText).error.code]).toEqual([5, 'unexpected-answer'])
    const unknown = await as('kim', ['request', 'show', 'REQ-99999'])
    expect([unknown.exit, unknown.errorText]).toEqual([
      4,
      expect.stringContaining('You cannot see a request REQ-99999'),
    ])
  })

  it('logs everybody out, and accepts a second logout', async () => {
    const home = newHome()
    await signIn(home, service.app.url, 'omar')
    const leave = () => as('kim', ['logout', '--json'], { home })
    expect(JSON.parse((await leave()).printed)).toEqual({ signedOut: 1 })
    expect(JSON.parse((await leave()).printed)).toEqual({ signedOut: 0 })
    expect((await as('kim', ['whoami'], { home })).exit).toBe(3)
  })
})
