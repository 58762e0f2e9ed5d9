import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
    expect((await signIn(home, service.app.url, 'kim')).exit).toBe(0)
  })
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  const list = (text: string | Buffer): string => {
    number += 1
    const path = join(folder, `list-${number}.csv`)
    writeFileSync(path, text)
    return path
  }
  const run = (path: string, more: readonly string[] = ['--yes'], options: Partial<RunOptions> = {}) =>
    runQuartermaster(['mailbox', 'create', '--csv', path, ...more], { home, ...options })
  const resultsOf = (path: string): Record<string, string>[] =>
    parse(readFileSync(path.replace('.csv', '.results.csv')), { columns: true, bom: true })
  const shown = async (requestId = '') => {
    const { printed } = await runQuartermaster(['request', 'show', requestId, '--json'], { home })
    return JSON.parse(printed)
  }
  const count = async (): Promise<number> => {
    const { rows } = await service.app.database.query<{ n: number }>('SELECT count(*)::int AS n FROM requests')
    return rows[0]?.n ?? 0
  }

  it('creates the resource of each line, with every kind of cell', async () => {
    const path = list(
      [
        'key,template,name,displayName,metadata.seats,roomMailboxMetadata.hasWhiteboard,tags,capacity,permissions.FullAccess,primaryOwner',
        `A1,Meeting room,ada,"Ada, first floor",12,yes,quiet;bright,2048,"dana@contoso.example; ${people.omar.id}",dana@contoso.example`,
        'A2,meeting ROOM,bell,Bell,,no,,,,',
      ].join('\n'),
    )
    const { exit, printed, errorText } = await run(path)
    expect([exit, errorText]).toEqual([0, expect.stringContaining('Correct lines: 2. Lines with errors: 0.')])
    expect(printed).toMatch(/^2 succeeded\.\n/)
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

  it('reads files of Excel: semicolons, a byte order mark, empty lines', async () => {
    const path = list('\ufeffname;displayName;Template\r\ncurie;Curie, by the stairs;Meeting room\r\n;;\r\n')
    expect((await run(path)).exit).toBe(0)
    expect(resultsOf(path)).toMatchObject([{ key: '2', name: 'curie', status: 'succeeded' }])
    const unicode = '\ufeffname\tdisplayName\tTemplate\r\ncuvier\tCuvier, Zürich\tMeeting room\r\n'
    const utf16 = list(Buffer.from(unicode, 'utf16le'))
    expect((await run(utf16)).exit).toBe(0)
    expect((await shown(resultsOf(utf16)[0]?.requestId)).details.displayName).toBe('Cuvier, Zürich')
  })

  it('shows the lines that would be refused, asks, and sends the valid ones', async () => {
    const path = list('name,displayName\ndirac,Dirac\na b,No name\neuler,Euler\n')
    const flags = ['--template', 'Meeting room']
    const before = await count()
    const declined = await run(path, flags, {
      typing: (errorText) =>
        errorText.includes('Send the correct lines (2) and skip the lines with errors (1)?') ? 'n' : undefined,
    })
    expect([declined.exit, await count()]).toEqual([1, before])
    expect(declined.errorText).toMatch(/Line 3 has errors:\n {2}name: /)
    const agreed = await run(path, flags, {
      typing: (errorText) =>
        errorText.includes('Send the correct lines (2) and skip the lines with errors (1)?') ? 'y' : undefined,
    })
    expect([agreed.exit, await count()]).toEqual([4, before + 2])
    expect(resultsOf(path).map(({ key, status, error }) => [key, status, error !== ''])).toEqual([
      ['2', 'succeeded', false],
      ['3', 'refused', true],
      ['4', 'succeeded', false],
    ])
    // The wrong line is corrected; existing resources are unchanged.
    writeFileSync(path, 'name,displayName\ndirac,Dirac\nfermi,No name\neuler,Euler\n')
    const again = await run(path, [...flags, '--yes'])
    expect([again.exit, await count()]).toEqual([0, before + 3])
    expect(again.errorText).toContain('Correct lines: 1.')
    const once = await run(path, [...flags, '--yes'])
    expect([once.exit, await count()]).toEqual([0, before + 3])
  })

  it('sends nothing with --dry-run, nor in a script without --yes', async () => {
    const path = list('name,displayName,template\ngauss,Gauss,Meeting room\n')
    const before = await count()
    const dry = await run(path, ['--dry-run'])
    expect([dry.exit, dry.errorText]).toEqual([0, expect.stringContaining('Correct lines: 1.')])
    const silent = await run(path, [])
    expect([silent.exit, silent.errorText]).toEqual([2, expect.stringContaining('--yes')])
    expect([await count(), existsSync(path.replace('.csv', '.results.csv'))]).toEqual([before, false])
  })

  it('continues after an interruption without a repeated request', async () => {
    const names = Array.from({ length: 12 }, (_, place) => `hilbert-${place}`)
    const path = list(['name,displayName,template', ...names.map((name) => `${name},${name},Meeting room`)].join('\n'))
    const before = await count()
    const interrupt = new AbortController()
    const watching: typeof fetch = async (url, init) => {
      const answer = await fetch(url, init)
      // The service accepted the list, but its sender receives no answer.
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
    expect([again.exit, again.printed]).toEqual([0, expect.stringContaining('12 succeeded')])
    expect(await count()).toBe(before + 12)
    expect(new Set(resultsOf(path).map(({ requestId }) => requestId)).size).toBe(12)
  })

  it('writes no cell that a spreadsheet would execute', async () => {
    const path = list('key,name,displayName,template\n=1+1,@cmd,"=HYPERLINK(""http://x"")",Meeting room\n')
    expect((await run(path)).exit).toBe(4)
    const [line] = resultsOf(path)
    expect([line?.key, line?.name]).toEqual(["'=1+1", "'@cmd"])
    expect(readFileSync(path.replace('.csv', '.results.csv'), 'utf8')).not.toMatch(/(^|,)"?[=@+-]/m)
  })

  it('prints one JSON value with --json, for scripts', async () => {
    const path = list('name,displayName,template\nkepler,Kepler,Meeting room\n')
    const { exit, printed } = await run(path, ['--yes', '--json'])
    expect([exit, JSON.parse(printed)]).toMatchObject([0, { made: 1, refused: 0, rows: [{ status: 'succeeded' }] }])
  })

  it('prints the result of a dry run as one JSON value with --json, and no other text', async () => {
    const path = list(
      'name,displayName,template,capacity\nlovelace,Ada,Meeting room,\na b,B,Meeting room,\nc,C,,much\n',
    )
    const { exit, printed, errorText } = await run(path, ['--dry-run', '--json'])
    expect([exit, errorText]).toEqual([4, ''])
    expect(JSON.parse(printed)).toMatchObject({
      valid: false,
      rows: [
        { line: 2, key: '2', status: 'ok', approvalRequired: false, names: expect.anything(), errors: [] },
        { line: 3, status: 'refused', errors: [{ pointer: '#/name', detail: expect.any(String) }] },
        { line: 4, status: 'refused', errors: [{ pointer: '#/capacity' }] },
      ],
    })
    const sent = await run(path, ['--yes', '--json'])
    expect([sent.exit, sent.errorText, JSON.parse(sent.printed).refused]).toEqual([4, '', 2])
  })

  it.each([
    ['an unknown column', 'name,displayNam\na,b\n', /Unknown column displayNam.*displayName/],
    ['a column twice', 'name,NAME\na,b\n', /Two columns have the name name/],
    ['no rows', 'name,displayName\n', /has no requests/],
    ['another encoding', Buffer.from('name,displayName\na,B\xfcro\n', 'latin1'), /neither UTF-8 nor UTF-16/],
    ['a quote that does not end', 'name,displayName\na,"B\n', /is not a valid CSV file/],
  ])('reports the fault of a list that has %s', async (_, text, says) => {
    const before = await count()
    const { exit, errorText } = await run(list(text))
    expect([exit, errorText]).toEqual([2, expect.stringMatching(says)])
    expect(await count()).toBe(before)
  })

  it('reports the errors of all lines at once, with their line numbers, and sends the others', async () => {
    const lines = [
      'key;name;displayName;template;primaryOwner;capacity;isWheelChairAccessible',
      'A;"noether";"Noether,\ntwo lines";Meeting room;dana@contoso.example;;ja',
      '',
      'B;ockham;Ockham;Ballroom;nobody@contoso.example;much;vielleicht',
      'C;pascal;Pascal;Meeting room;;;',
      'C;peano;Peano;Meeting room;;;',
      'D;pascal;Pascal;Meeting room;;;',
      'E;planck',
      `${'F'.repeat(65)};poincare;Poincaré;Meeting room;;;`,
      'G;a b;Poisson;Meeting room;;;WAHR',
    ]
    const path = list(`${lines.join('\r\n')}\r\n`)
    const before = await count()
    const dry = await run(path, ['--dry-run'])
    expect([dry.exit, await count()]).toEqual([4, before])
    const reported = [
      [
        'Line 5 (B) has errors:',
        '  capacity: “much” is not a number. Enter a number such as 12 or 2.5.',
        '  isWheelChairAccessible: “vielleicht” is neither yes nor no. Enter yes or no.',
        '  template: You have no template “Ballroom” for this command. For all templates: quartermaster templates',
        '  primaryOwner: nobody@contoso.example is not a person of this organisation. Use a sign-in name or a user id.',
      ],
      ['Line 7 (C) has errors:', '  key: Line 6 has the same key. Give each line its own key.'],
      ['Line 8 (D) has errors:', '  This line repeats line 6. Remove one of the two lines.'],
      ['Line 9 (E) has errors:', '  This line has 2 cells, but the first line has 7.'],
      [`Line 10 (${'F'.repeat(65)}) has errors:`, '  key: A key must have 1 to 64 printable characters.'],
      ['Line 11 (G) has errors:', '  name: '],
    ]
    for (const lines of reported) expect(dry.errorText).toContain(lines.join('\n'))
    expect(dry.errorText).toContain('Correct lines: 2. Lines with errors: 6.')
    const sent = await run(path)
    expect([sent.exit, sent.printed]).toEqual([4, expect.stringContaining('2 succeeded, 6 refused.')])
    expect(resultsOf(path).map(({ key, status, error }) => [key?.slice(0, 2), status, error !== ''])).toEqual([
      ['A', 'succeeded', false],
      ['B', 'refused', true],
      ['C', 'succeeded', false],
      ['C', 'refused', true],
      ['D', 'refused', true],
      ['E', 'refused', true],
      ['FF', 'refused', true],
      ['G', 'refused', true],
    ])
    const [noether] = resultsOf(path)
    expect((await shown(noether?.requestId)).details).toMatchObject({ isWheelChairAccessible: true })
    // Lines are recognised after a move, and the equal line remains wrong.
    writeFileSync(path, `${[lines[0], lines[6], lines[4], lines[1]].join('\r\n')}\r\n`)
    const moved = await run(path)
    expect([moved.exit, await count()]).toEqual([4, before + 2])
    expect(resultsOf(path).map(({ key, status }) => [key, status])).toEqual([
      ['C', 'succeeded'],
      ['C', 'refused'],
      ['A', 'succeeded'],
    ])
  })

  it('reports a person with two access levels, and sends nothing for this line', async () => {
    const path = list(
      [
        'name,displayName,template,permissions.FullAccess,permissions.SendAs',
        'thebe,Thebe,Shared mailbox,dana@contoso.example omar@contoso.example,DANA@contoso.example omar@contoso.example',
        `metis,Metis,Shared mailbox,dana@contoso.example,${people.dana.id}`,
      ].join('\n'),
    )
    const before = await count()
    const { exit, errorText } = await run(path)
    expect([exit, await count()]).toEqual([4, before])
    expect(errorText).toContain(
      'Line 2 has errors:\n  permissions: omar@contoso.example has two access levels. Choose one.\n',
    )
    expect(errorText).toContain('  permissions: DANA@contoso.example has two access levels. Choose one.\nLine 3')
    expect(errorText).toContain(`  permissions: ${people.dana.id} has two access levels. Choose one.\n`)
  })

  it('keeps the result of a request whose line changed, and reads results of an earlier version', async () => {
    const path = list('name,displayName,template\nquine,Quine,Meeting room\n')
    expect((await run(path)).exit).toBe(0)
    const results = path.replace('.csv', '.results.csv')
    const [before] = resultsOf(path)
    writeFileSync(
      results,
      readFileSync(results, 'utf8')
        .replace(',batchId', '')
        .replace(/,"[^",]*"(\r\n)/g, '$1'),
    )
    writeFileSync(path, 'name,displayName,template\nramsey,Ramsey,Meeting room\n')
    const again = await run(path)
    expect([again.exit, again.printed]).toEqual([0, expect.stringContaining('2 succeeded')])
    expect(resultsOf(path)).toMatchObject([
      { name: 'ramsey', status: 'succeeded' },
      { name: 'quine', requestId: before?.requestId },
    ])
  })

  it('does not send a changed line while it is unknown whether the earlier line arrived', async () => {
    const path = list('name,displayName,template\nriemann,Riemann,Meeting room\nrussell,Russell,Meeting room\n')
    const interrupt = new AbortController()
    const lost: typeof fetch = async (url, init) => {
      const answer = await fetch(url, init)
      if (!String(url).endsWith('/requests/v1/batch') || answer.status !== 202) return answer
      interrupt.abort()
      throw new TypeError('fetch failed')
    }
    expect((await run(path, ['--yes'], { signal: interrupt.signal, fetch: lost })).exit).toBe(130)
    const before = await count()
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('Russell', 'Bertrand'))
    const changed = await run(path)
    expect([changed.exit, changed.errorText]).toEqual([2, expect.stringContaining('have changed since then: 3.')])
    writeFileSync(path, text)
    expect((await run(path)).printed).toContain('2 succeeded')
    expect(await count()).toBeLessThanOrEqual(before + 2)
  })

  it('names an unusable results file before it sends anything', async () => {
    const path = list('name,displayName,template\nsmullyan,Smullyan,Meeting room\n')
    // A file cannot replace a folder.
    mkdirSync(join(path.replace('.csv', '.results.csv'), 'inside'), { recursive: true })
    const before = await count()
    expect(await run(path)).toMatchObject({
      exit: 2,
      errorText: expect.stringMatching(/^Cannot read \S+\.results\.csv /),
    })
    expect(await count()).toBe(before)
  })

  it('accepts --csv alone, and does not touch other files with the same name', async () => {
    const path = list('name,displayName\nlaplace,Laplace\n')
    expect((await run(path, ['--file', 'x.json'])).errorText).toContain('--file')
    writeFileSync(path.replace('.csv', '.results.csv'), 'my own notes\n')
    expect(await run(path)).toMatchObject({ exit: 2, errorText: expect.stringContaining('Move it to another folder') })
    expect(readFileSync(path.replace('.csv', '.results.csv'), 'utf8')).toBe('my own notes\n')
  })

  it('creates sites from a list, too', async () => {
    const path = list('displayName,template\nMontblanc,Working group\nMatterhorn,Working group\n')
    const made = await runQuartermaster(['site', 'create', '--csv', path, '--yes'], { home })
    expect([made.exit, made.printed]).toEqual([0, expect.stringContaining('2 succeeded')])
  })
})
