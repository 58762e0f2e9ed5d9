import { beforeAll, describe, expect, it } from 'vitest'
import { newHome, type RunOptions, runQuartermaster, signIn } from '../support/command-line.ts'
import { withService } from '../support/service.ts'
import { takeAlias } from '../support/simulator.ts'
import { people } from '../support/teams-user.ts'

describe('the commands for one request', () => {
  const service = withService()
  const homes = { kim: newHome(), dana: newHome(), omar: newHome(), sam: newHome() }
  type Who = keyof typeof homes
  const as = (who: Who, args: readonly string[], options: Partial<RunOptions> = {}) =>
    runQuartermaster(args, { home: homes[who], ...options })
  beforeAll(async () => {
    for (const who of ['kim', 'dana', 'omar', 'sam'] as const)
      expect((await signIn(homes[who], service.app.url, who)).exit).toBe(0)
  })
  const request = async (...args: string[]): Promise<string> => {
    const { printed } = await as('kim', [...args, '--json'])
    const { printed: shown } = await as('kim', ['request', 'show', JSON.parse(printed).requestId, '--json'])
    return JSON.parse(shown).reference
  }
  const projectSite = (name: string) =>
    request(
      ...['site', 'create', '--template', 'Project site', '--display-name', name, '--owner', 'astrid@contoso.example'],
      ...['--description', 'Trading with Ganymede', '--metadata', 'costCentre=4711', '--metadata', 'audience=internal'],
    )

  it('show an approver the facts of the card: owners, answers, description and reason', async () => {
    const site = await projectSite('Callisto')
    const shown = (await as('dana', ['request', 'show', site])).printed
    for (const line of [
      /^ {2}Owners: .*Kim Lee/m,
      /^ {2}Description: Trading with Ganymede$/m,
      /^ {2}Cost centre: 4711$/m,
      /^ {2}Alias: \S*callisto$/m,
    ])
      expect(shown).toMatch(line)
    expect(shown).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}.*[0-9a-f]{8}-/)
    const flags = [
      '--name',
      'amalthea',
      '--display-name',
      'Amalthea',
      '--reason',
      'Orders of customers',
      '--permission',
    ]
    const mailbox = await request(
      ...['mailbox', 'create', '--template', 'Shared mailbox', ...flags, 'dana@contoso.example=FullAccess'],
    )
    const box = (await as('kim', ['request', 'show', mailbox])).printed
    expect(box).toMatch(/^ {2}Address: \S*amalthea@contoso\.example$/m)
    expect(box).toContain('  Can open it: Dana Fox\n')
    const room = await request(
      ...['mailbox', 'create', '--template', 'Meeting room', '--name', 'leda', '--display-name', 'Leda'],
      ...['--whiteboard', '--capacity', '2048', '--tag', 'quiet', '--tag', 'bright'],
    )
    const meetingRoom = (await as('kim', ['request', 'show', room])).printed
    for (const line of ['roomMailboxMetadata.hasWhiteboard: yes', 'capacity: 2048', 'tags: quiet, bright'])
      expect(meetingRoom).toContain(`  ${line}\n`)
    expect(box).toContain('  Reason: “Orders of customers”\n')
  })

  it('show the fields of a mailbox that have no effect, before and after it is sent', async () => {
    const flags = ['--template', 'Shared mailbox', '--display-name', 'Thebe', '--primary-owner', 'dana@contoso.example']
    const warning = 'Microsoft 365 has no place for primaryOwner of shared mailboxes. Only the request keeps the value.'
    const tried = await as('kim', ['mailbox', 'create', ...flags, '--name', 'thebe', '--dry-run'])
    const sent = await as('kim', ['mailbox', 'create', ...flags, '--name', 'thebe'])
    for (const { printed } of [tried, sent]) expect(printed).toContain(`Warning: ${warning}`)
    const json = await as('kim', ['mailbox', 'create', ...flags, '--name', 'thebe-2', '--json'])
    const { warnings, requestId } = JSON.parse(json.printed)
    expect(warnings).toEqual([{ code: 'kept-on-request', field: 'primaryOwner', detail: warning }])
    expect((await as('kim', ['request', 'show', requestId])).printed).toContain(`Warning: ${warning}`)
  })

  it('show ids if names cannot be looked up', async () => {
    const site = await projectSite('Himalia')
    const noDirectory: typeof fetch = async (url, init) =>
      String(url).includes('/v1.0/users')
        ? Response.json({ error: { code: 'Authorization_RequestDenied', message: 'No.' } }, { status: 403 })
        : fetch(url, init)
    const { exit, printed } = await as('dana', ['request', 'show', site], { fetch: noDirectory })
    expect([exit, printed]).toEqual([0, expect.stringMatching(/Owners: Kim Lee, [0-9a-f-]{36}/)])
  })

  it('remind the approvers once a day', async () => {
    const site = await projectSite('Elara')
    const { exit, printed, errorText } = await as('kim', ['request', 'nudge', site])
    expect(errorText).toBe('A reminder was sent to the approvers who have not decided.\n')
    expect([exit, printed]).toEqual([0, expect.stringContaining('waiting for Dana Fox, Omar Haddad')])
    const again = await as('kim', ['request', 'nudge', site, '--json'])
    expect([again.exit, JSON.parse(again.errorText).error.code]).toEqual([4, 'nudged-already'])
  })

  it('replace an address that another resource has taken', async () => {
    const site = await projectSite('Metis')
    await takeAlias(service.app.endpoints.simulator, 'metis')
    const refused = await as('dana', ['request', 'approve', site, '--json'])
    expect(JSON.parse(refused.errorText).error.code).toBe('name-taken')
    const { printed } = await as('kim', ['request', 'show', site])
    expect(printed).toContain('Another resource has taken the address metis.')
    expect(printed).toContain(`quartermaster request address ${site} metis-2\n`)
    const changed = await as('kim', ['request', 'address', site, 'thebe-prime', '--json'])
    expect([changed.exit, JSON.parse(changed.printed).details.alias]).toEqual([0, 'thebe-prime'])
    expect((await as('dana', ['request', 'approve', site])).exit).toBe(0)
  })

  it('reassign a decision by sign-in name or id, and show it in the timeline', async () => {
    const site = await projectSite('Pasiphae')
    const args = ['request', 'reassign', site, 'sam@contoso.example', '--comment', 'On holiday']
    const { exit, printed } = await as('dana', args)
    expect([exit, printed]).toEqual([0, expect.stringMatching(/waiting for .*Sam Roy/)])
    const back = ['request', 'reassign', site, people.dana.id, '--from', people.sam.id]
    expect((await as('sam', back)).printed).toMatch(/waiting for .*Dana Fox/)
    const timeline = await as('kim', ['request', 'timeline', site])
    expect(timeline.printed).toMatch(/^WHEN +WHO +WHAT +COMMENT$/m)
    expect(timeline.printed).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC +Dana Fox +reassigned +“On holiday”$/m)
    const { value } = JSON.parse((await as('kim', ['request', 'timeline', site, '--json'])).printed)
    expect(value.length).toBeGreaterThan(2)
    for (const typed of ['nobody@contoso.example', 'Dana'])
      expect(await as('dana', ['request', 'reassign', site, typed])).toMatchObject({
        exit: 2,
        errorText: expect.stringContaining(`${typed} is not a person of this organisation`),
      })
  })

  it('retry a failed request, for admins', async () => {
    await service.fault({ operation: 'graph.groups.upsert', kind: 'failBeforeCommit', status: 405 })
    const site = await request('site', 'create', '--template', 'Working group', '--display-name', 'Metis')
    expect((await as('kim', ['request', 'watch', site])).exit).toBe(1)
    await service.heal()
    expect((await as('kim', ['request', 'retry', site])).exit).toBe(4)
    expect((await as('sam', ['request', 'retry', site, '--comment', 'Fixed'])).exit).toBe(0)
    expect((await as('kim', ['request', 'watch', site])).exit).toBe(0)
    expect((await as('sam', ['request', 'retry', site])).exit).toBe(4)
  })

  it('use the status names of the API in the list and in its filter', async () => {
    const site = await projectSite('Thebe')
    const { printed } = await as('kim', ['request', 'list', '--status', 'pendingApproval', '--limit', '1'])
    expect(printed).toMatch(new RegExp(`^${site} +pendingApproval +team site +Thebe$`, 'm'))
    const { value } = JSON.parse((await as('kim', ['request', 'list', '--limit', '1', '--json'])).printed)
    expect(value[0].status).toBe('pendingApproval')
  })

  it('check each answer at once, and default to no for a mailbox that nobody can open', async () => {
    const answers: [RegExp, string[]][] = [
      [/Which template\?/, ['1']],
      [/Name that people see/, ['x'.repeat(300), 'Adrastea']],
      [/Name before the @/, ['a b', 'adrastea']],
      [/People who can open it/, ['nobody@contoso.example', 'leda', '']],
      [/Reason for the request/, ['']],
      [/Send anyway\?/, ['']],
    ]
    const order: string[] = []
    const typing = (question: string) => {
      const found = answers.find(([pattern]) => pattern.test(question))
      order.push(question)
      return found?.[1].shift()
    }
    const { exit, errorText } = await as('kim', ['mailbox', 'create'], { typing })
    expect(errorText).toContain('Nobody can open this mailbox: nobody has FullAccess. Send anyway? (y/N)')
    expect([exit, errorText]).toEqual([1, expect.stringContaining('Not sent.')])
    // Each answer was refused before the next question.
    const questions = order.map((line) => answers.findIndex(([pattern]) => pattern.test(line)))
    expect(questions).toEqual([0, 1, 1, 2, 2, 3, 3, 3, 4, 5])
    expect(answers.flatMap(([, rest]) => rest)).toEqual([])
    expect(errorText).not.toMatch(/#\//)
  })

  it('name flags, not JSON pointers', async () => {
    const flags = ['--template', 'Meeting room', '--name', 'a b', '--display-name', 'Kore', '--capacity', '-1']
    const { exit, errorText } = await as('kim', ['mailbox', 'create', ...flags.slice(0, -2), '--capacity=-1'])
    expect([exit, errorText]).toEqual([4, expect.stringMatching(/^ {2}--name: /m)])
    expect(errorText).toMatch(/^ {2}--capacity: /m)
    expect(errorText).not.toContain('#/')
    const two = ['--primary-owner', 'no1@contoso.example', '--secondary-owner', 'no2@contoso.example']
    const both = await as('kim', [
      'mailbox',
      'create',
      ...flags.slice(0, 2),
      '--name',
      'kore',
      '--display-name',
      'K',
      ...two,
    ])
    expect(both.exit).toBe(2)
    expect(both.errorText).toMatch(/--primary-owner: no1@contoso.*\n {2}--secondary-owner: no2@contoso/)
  })

  it('take the access of a flag instead of the file’s, whatever name the person has there', async () => {
    const input = JSON.stringify({ name: 'carpo', permissions: { [people.dana.id]: 'FullAccess' } })
    const flags = [
      '--template',
      'Shared mailbox',
      '--display-name',
      'Carpo',
      '--permission',
      'Dana@contoso.example=SendAs',
    ]
    const sent = await as('kim', ['mailbox', 'create', '--file', '-', ...flags, '--json'], { input })
    const shown = await as('kim', ['request', 'show', JSON.parse(sent.printed).requestId, '--json'])
    expect(JSON.parse(shown.printed).details.permissions).toEqual({ [people.dana.id]: 'SendAs' })
  })

  it('refuse two access levels for a person who is named by sign-in name and by id', async () => {
    const flags = ['--template', 'Shared mailbox', '--name', 'carme', '--display-name', 'Carme']
    const pairs = (access: string) => [
      ...['--permission', `${people.dana.id}=FullAccess`, '--permission', `dana@contoso.example=${access}`],
    ]
    const refused = await as('kim', ['mailbox', 'create', ...flags, ...pairs('SendAs')])
    expect([refused.exit, refused.errorText]).toEqual([
      2,
      'Fix these fields:\n  --permission: dana@contoso.example has two access levels. Choose one.\n',
    ])
    expect((await as('kim', ['mailbox', 'create', ...flags, ...pairs('FullAccess'), '--dry-run'])).exit).toBe(0)
  })
})
