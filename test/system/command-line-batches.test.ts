import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newHome, type RunOptions, runQuartermaster, signIn } from '../support/command-line.ts'
import { withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'

describe('mailbox create --csv', () => {
  const service = withService()
  const home = newHome()
  let folder = ''
  let number = 0
  beforeAll(async () => {
    folder = mkdtempSync(join(inject('runFolder'), 'csv-'))
    expect((await signIn(home.path, service.app.url, 'kim')).exit).toBe(0)
  })
  afterAll(() => {
    home.remove()
    rmSync(folder, { recursive: true, force: true })
  })
  const list = (text: string | Buffer): string => {
    number += 1
    const path = join(folder, `list-${number}.csv`)
    writeFileSync(path, text)
    return path
  }
  const run = (path: string, more: readonly string[] = ['--yes'], options: Partial<RunOptions> = {}) =>
    runQuartermaster(['mailbox', 'create', '--csv', path, ...more], { home: home.path, ...options })
  const resultsOf = (path: string): Record<string, string>[] =>
    parse(readFileSync(path.replace('.csv', '.results.csv')), { columns: true, bom: true })
  const shown = async (requestId = '') => {
    const { printed } = await runQuartermaster(['request', 'show', requestId, '--json'], { home: home.path })
    return JSON.parse(printed)
  }
  const count = async (): Promise<number> => {
    const { rows } = await service.app.database.query<{ n: number }>('SELECT count(*)::int AS n FROM requests')
    return rows[0]?.n ?? 0
  }

  it('makes what each line asks for, with every kind of cell', async () => {
    const path = list(
      [
        'key,template,name,displayName,metadata.seats,roomMailboxMetadata.hasWhiteboard,tags,capacity,permissions.FullAccess,primaryOwner',
        `A1,Meeting room,ada,"Ada, first floor",12,yes,quiet;bright,2048,"dana@contoso.example; ${people.omar.id}",dana@contoso.example`,
        'A2,meeting ROOM,bell,Bell,,no,,,,',
      ].join('\n'),
    )
    const { exit, printed, told } = await run(path)
    expect([exit, told]).toEqual([0, expect.stringContaining('2 can be sent, 0 would be refused')])
    expect(printed).toContain('2 made, 0 under way or waiting for approval, 0 refused')
    const results = resultsOf(path)
    expect(results.map(({ key, name, status }) => [key, name, status])).toEqual([
      ['A1', 'ada', 'succeeded'],
      ['A2', 'bell', 'succeeded'],
    ])
    const { details } = await shown(results[0]?.requestId)
    expect(details).toMatchObject({
      ...{ name: 'room-ada', displayName: 'Ada, first floor', tags: ['quiet', 'bright'], capacity: 2048 },
      metadata: { seats: expect.anything() },
      roomMailboxMetadata: { hasWhiteboard: true },
      permissions: { [people.dana.id]: 'FullAccess', [people.omar.id]: 'FullAccess' },
      primaryOwner: people.dana.id,
    })
  })

  it('reads what Excel saves: semicolons, a byte order mark, lines with nothing in them', async () => {
    const path = list('\ufeffname;displayName;Template\r\ncurie;Curie, by the stairs;Meeting room\r\n;;\r\n')
    expect((await run(path)).exit).toBe(0)
    expect(resultsOf(path)).toMatchObject([{ key: '2', name: 'curie', status: 'succeeded' }])
  })

  it('tells what would be refused, asks, and sends what is right', async () => {
    const path = list('name,displayName\ndirac,Dirac\na b,No name\neuler,Euler\n')
    const flags = ['--template', 'Meeting room']
    const before = await count()
    const declined = await run(path, flags, { typing: (told) => (told.includes('Create 2?') ? 'n' : undefined) })
    expect([declined.exit, await count()]).toEqual([1, before])
    expect(declined.told).toMatch(/Line 3 would be refused:\n {2}#\/name: /)
    const agreed = await run(path, flags, { typing: (told) => (told.includes('Create 2?') ? 'y' : undefined) })
    expect([agreed.exit, await count()]).toEqual([4, before + 2])
    expect(resultsOf(path).map(({ key, status, error }) => [key, status, error !== ''])).toEqual([
      ['2', 'succeeded', false],
      ['3', 'refused', true],
      ['4', 'succeeded', false],
    ])
    // The line that was wrong is mended; what is there stays as it is.
    writeFileSync(path, 'name,displayName\ndirac,Dirac\nfermi,No name\neuler,Euler\n')
    const again = await run(path, [...flags, '--yes'])
    expect([again.exit, await count()]).toEqual([0, before + 3])
    expect(again.told).toContain('1 can be sent')
    const once = await run(path, [...flags, '--yes'])
    expect([once.exit, await count()]).toEqual([0, before + 3])
  })

  it('sends nothing with --dry-run, nor in a script without --yes', async () => {
    const path = list('name,displayName,template\ngauss,Gauss,Meeting room\n')
    const before = await count()
    const dry = await run(path, ['--dry-run'])
    expect([dry.exit, dry.told]).toEqual([0, expect.stringContaining('1 can be sent')])
    const silent = await run(path, [])
    expect([silent.exit, silent.told]).toEqual([2, expect.stringContaining('--yes')])
    expect([await count(), existsSync(path.replace('.csv', '.results.csv'))]).toEqual([before, false])
  })

  it('goes on where it was interrupted, and asks for nothing twice', async () => {
    const names = Array.from({ length: 12 }, (_, place) => `hilbert-${place}`)
    const path = list(['name,displayName,template', ...names.map((name) => `${name},${name},Meeting room`)].join('\n'))
    const before = await count()
    const interrupt = new AbortController()
    const watching: typeof fetch = async (url, init) => {
      const answer = await fetch(url, init)
      // The list was taken, and whoever sent it never hears of it.
      if (String(url).endsWith('/requests/v1/batch') && answer.status === 202) {
        interrupt.abort()
        throw new TypeError('the line is dead')
      }
      return answer
    }
    const cut = await run(path, ['--yes'], { signal: interrupt.signal, fetch: watching })
    expect(cut.exit).toBe(130)
    expect(new Set(resultsOf(path).map(({ status }) => status))).toEqual(new Set(['sending']))
    const again = await run(path)
    expect([again.exit, again.printed]).toEqual([0, expect.stringContaining('12 made')])
    expect(await count()).toBe(before + 12)
    expect(new Set(resultsOf(path).map(({ requestId }) => requestId)).size).toBe(12)
  })

  it('writes no cell that a spreadsheet would run', async () => {
    const path = list('key,name,displayName,template\n=1+1,@cmd,"=HYPERLINK(""http://x"")",Meeting room\n')
    expect((await run(path)).exit).toBe(4)
    const [line] = resultsOf(path)
    expect([line?.key, line?.name]).toEqual(["'=1+1", "'@cmd"])
    expect(readFileSync(path.replace('.csv', '.results.csv'), 'utf8')).not.toMatch(/(^|,)"?[=@+-]/m)
  })

  it('gives one value with --json, for scripts', async () => {
    const path = list('name,displayName,template\nkepler,Kepler,Meeting room\n')
    const { exit, printed } = await run(path, ['--yes', '--json'])
    expect([exit, JSON.parse(printed)]).toMatchObject([0, { made: 1, refused: 0, rows: [{ status: 'succeeded' }] }])
  })

  it.each([
    ['a column that there is not', 'name,displayNam\na,b\n', /no field displayNam.*displayName/],
    ['a column twice', 'name,NAME\na,b\n', /Two columns are called name/],
    ['nothing in it', 'name,displayName\n', /no line after the first/],
    ['a key twice', 'key,name\n1,a\n1,b\n', /Two lines have the key 1/],
    ['the same line twice', 'name,displayName\na,A\na,A\n', /Line 3 says the same as line 2/],
    ['lines of other lengths', 'name,displayName\na\n', /cannot be read as a list/],
    ['another encoding', Buffer.from('name,displayName\na,B\xfcro\n', 'latin1'), /not UTF-8/],
    ['nobody of this name', 'name,primaryOwner\na,nobody@contoso.example\n', /nobody@contoso\.example is not a person/],
    ['no such template', 'name,template\na,Ballroom\n', /Ballroom/],
  ])('says what is wrong with a list that has %s', async (_, text, says) => {
    const before = await count()
    const { exit, told } = await run(list(text))
    expect([exit, told]).toEqual([2, expect.stringMatching(says)])
    expect(await count()).toBe(before)
  })

  it('takes --csv alone, and leaves other files of the same name alone', async () => {
    const path = list('name,displayName\nlaplace,Laplace\n')
    expect((await run(path, ['--file', 'x.json'])).told).toContain('--file')
    writeFileSync(path.replace('.csv', '.results.csv'), 'my own notes\n')
    expect(await run(path)).toMatchObject({ exit: 2, told: expect.stringContaining('Move it away') })
    expect(readFileSync(path.replace('.csv', '.results.csv'), 'utf8')).toBe('my own notes\n')
  })

  it('creates sites from a list, too', async () => {
    const path = list('displayName,template\nMontblanc,Working group\nMatterhorn,Working group\n')
    const made = await runQuartermaster(['site', 'create', '--csv', path, '--yes'], { home: home.path })
    expect([made.exit, made.printed]).toEqual([0, expect.stringContaining('2 made')])
  })
})
