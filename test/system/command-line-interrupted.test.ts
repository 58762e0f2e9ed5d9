import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { newHome, runQuartermaster, signIn, startQuartermaster } from '../support/command-line.ts'
import { withService } from '../support/service.ts'
import { until } from '../support/until.ts'

describe('a command interrupted by Ctrl-C', () => {
  const service = withService()
  const homes = { kim: newHome(), dana: newHome() }
  let folder = ''
  beforeAll(async () => {
    folder = mkdtempSync(join(inject('runFolder'), 'interrupted-'))
    for (const who of ['kim', 'dana'] as const) expect((await signIn(homes[who], service.app.url, who)).exit).toBe(0)
  })
  afterEach(() => service.heal())
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  const as = (who: keyof typeof homes, ...args: string[]) => runQuartermaster(args, { home: homes[who] })
  const list = (name: string, ...lines: string[]): string => {
    const path = join(folder, `${name}.csv`)
    writeFileSync(path, `${lines.join('\n')}\n`)
    return path
  }
  const resultsOf = (path: string): Record<string, string>[] =>
    parse(readFileSync(path.replace('.csv', '.results.csv')), { columns: true, bom: true })
  const statusesOf = (path: string) => resultsOf(path).map(({ key, status }) => [key, status])
  const count = async (): Promise<number> => {
    const { rows } = await service.app.database.query<{ n: number }>('SELECT count(*)::int AS n FROM requests')
    return rows[0]?.n ?? 0
  }
  const start = (...args: string[]) => startQuartermaster(args, homes.kim)
  /** Runs a list in its own process, and presses Ctrl-C while it follows the requests. */
  const interrupt = async (args: readonly string[]) => {
    const running = start(...args)
    await until(() => /0 of \d+ succeeded/.test(running.errorText()) || undefined, 'the requests to be followed')
    running.child.kill('SIGINT')
    return running.ended
  }
  const mailboxesAreHeld = () =>
    service.fault({ operation: 'exchange.new-mailbox', kind: 'failBeforeCommit', status: 503, count: 10_000 })

  it('completes a list of 5 rows with 2 wrong rows after two interruptions, with 5 correct lines in its results file', async () => {
    const path = list(
      'rooms',
      'name,displayName,template,primaryOwner',
      'lagrange,Lagrange,Meeting room,dana@contoso.example',
      'laguerre,Laguerre,Meeting room,nobody@contoso.example',
      'lambert,Lambert,Meeting room,',
      'a b,Lebesgue,Meeting room,',
      'leibniz,Leibniz,Meeting room,',
    )
    const args = ['mailbox', 'create', '--csv', path, '--yes']
    const before = await count()
    await mailboxesAreHeld()
    for (const _ of [1, 2]) {
      const cut = await interrupt(args)
      expect([cut.exit, cut.errorText]).toEqual([130, expect.stringContaining('Requests in progress: 3.')])
      expect(cut.errorText).toContain('run the same command again')
      expect(statusesOf(path).filter(([, status]) => status === 'refused')).toHaveLength(2)
      expect(await count()).toBeLessThanOrEqual(before + 3)
    }
    await service.heal()
    const last = await start(...args).ended
    expect([last.exit, last.printed]).toEqual([4, expect.stringContaining('3 succeeded, 2 refused')])
    expect(resultsOf(path)).toMatchObject([
      { key: '2', name: 'lagrange', status: 'succeeded', reference: expect.stringMatching(/^REQ-/), error: '' },
      { key: '3', name: 'laguerre', status: 'refused', error: expect.stringContaining('primaryOwner: nobody@contoso') },
      { key: '4', name: 'lambert', status: 'succeeded', error: '' },
      { key: '5', name: 'a b', status: 'refused', error: expect.stringContaining('name: ') },
      { key: '6', name: 'leibniz', status: 'succeeded', error: '' },
    ])
    expect(await count()).toBe(before + 3)

    const corrected = readFileSync(path, 'utf8').replace('nobody@', 'omar@').replace('a b', 'lebesgue')
    writeFileSync(path, corrected)
    const all = await start(...args).ended
    expect([all.exit, all.printed]).toEqual([0, expect.stringContaining('5 succeeded')])
    expect(statusesOf(path)).toEqual(['2', '3', '4', '5', '6'].map((key) => [key, 'succeeded']))
    expect(await count()).toBe(before + 5)
  })

  it('follows rows whose requests have ended in the meantime, without sending anything', async () => {
    const path = list(
      'ended',
      'name,displayName,template',
      'markov,Markov,Meeting room',
      'moebius,Moebius,Meeting room',
    )
    const args = ['mailbox', 'create', '--csv', path, '--yes']
    await mailboxesAreHeld()
    const first = start(...args)
    const underWay = async () => (await as('kim', 'request', 'list', '--status', 'provisioning')).printed
    await until(async () => /(Markov.*Moebius)|(Moebius.*Markov)/s.test(await underWay()) || undefined, 'both requests')
    first.child.kill('SIGINT')
    expect((await first.ended).exit).toBe(130)
    await service.heal()
    const { reference = '' } = resultsOf(path)[0] ?? {}
    expect((await as('kim', 'request', 'watch', reference)).exit).toBe(0)
    const before = await count()
    const again = await start('mailbox', 'create', '--csv', path).ended
    expect([again.exit, again.printed]).toEqual([0, expect.stringContaining('2 succeeded')])
    expect(await count()).toBe(before)
  })

  it('reads the results of rows that waited for approval at any later time', async () => {
    const columns = 'displayName,template,metadata.costCentre,metadata.audience'
    const path = list('sites', columns, 'Neptune,Project site,4711,internal', 'Nereid,Project site,4711,internal')
    const args = ['site', 'create', '--csv', path, '--yes']
    const sent = await start(...args).ended
    expect([sent.exit, sent.printed]).toEqual([0, expect.stringContaining('2 pendingApproval')])
    const [first, second] = resultsOf(path)
    expect((await as('dana', 'request', 'approve', first?.reference ?? '')).exit).toBe(0)
    // --watch also follows requests that wait for people.
    const watching = start(...args, '--watch')
    await until(() => watching.errorText().includes('1 of 2 succeeded') || undefined, 'the first to be ready')
    expect((await as('dana', 'request', 'reject', second?.reference ?? '', '-m', 'Use Neptune')).exit).toBe(0)
    const ended = await watching.ended
    expect([ended.exit, ended.printed]).toEqual([1, expect.stringContaining('1 succeeded, 1 rejected')])
    expect(statusesOf(path)).toEqual([
      ['2', 'succeeded'],
      ['3', 'rejected'],
    ])
  })

  it('sends all lines of a long list before it waits for decisions about the first 200', async () => {
    const lines = Array.from({ length: 201 }, (_, place) => `Moon ${place},Project site,4711,internal`)
    const path = list('moons', 'displayName,template,metadata.costCentre,metadata.audience', ...lines)
    const stopped = new AbortController()
    let accepted = 0
    let refusals = 1
    const counting: typeof fetch = async (url, init) => {
      const isNext = String(url).endsWith('/requests/v1/batch') && accepted === 1
      // The service refuses a call while the person has too many running batches.
      if (isNext && refusals-- > 0) return Response.json({ code: 'too-many-open-requests' }, { status: 429 })
      const answer = await fetch(url, init)
      if (String(url).endsWith('/requests/v1/batch') && answer.status === 202) accepted += 1
      return answer
    }
    const options = { home: homes.kim, signal: stopped.signal, fetch: counting }
    const running = runQuartermaster(['site', 'create', '--csv', path, '--yes', '--watch'], options)
    await until(() => accepted === 2 || undefined, 'both calls')
    await until(() => resultsOf(path).every(({ batchId }) => batchId !== '') || undefined, 'the results of both calls')
    stopped.abort()
    expect((await running).exit).toBe(130)
    expect(resultsOf(path).filter(({ status }) => status === 'sending')).toEqual([])
  })

  it('names the request that continues, and the command that follows it again', async () => {
    const flags = ['--metadata', 'costCentre=4711', '--metadata', 'audience=internal', '--watch']
    const running = start('site', 'create', '--template', 'Project site', '--display-name', 'Oberon', ...flags)
    await until(() => running.printed().includes('pendingApproval') || undefined, 'the state')
    running.child.kill('SIGINT')
    const { exit, printed, errorText } = await running.ended
    const [reference] = /REQ-\d+/.exec(printed) ?? ['']
    expect(exit).toBe(130)
    expect(errorText).toContain(`${reference} continues. To follow it again: quartermaster request watch ${reference}`)
  })
})
